// Positions, drawn from the text that the rules draw: playing cards, boards of x and o, and otherwise the
// text itself with its pieces coloured. Shapes say the same as colours: x is a cross, o a ring.
import { html } from './html.js';
import { visible } from './format.js';
import { Seat } from './ui.js';

const SUITS = { s: ['♠', 'spades'], h: ['♥', 'hearts'], d: ['♦', 'diamonds'], c: ['♣', 'clubs'] };

function Playing({ card, seat, label }) {
  const hidden = card === '-', suit = SUITS[card[1]];
  return html`<figure class="hand">
    <div class=${'playing' + (hidden ? ' hidden' : '')}>${hidden ? '' : card[0]}${suit && html`<span title=${suit[1]}>${suit[0]}</span>`}</div>
    <figcaption>${seat === undefined ? label : html`<${Seat} n=${seat}>seat ${seat}<//>`}</figcaption>
  </figure>`;
}

// "Cards: K J. Moves: check bet. Player 0: +1."
function Cards({ line }) {
  const [, first, second, rest] = /^Cards: (\S+) ([^\s.]+)\.?\s*(.*)$/s.exec(line);
  const parts = rest.split(/(?<=\.)\s+/).filter(Boolean);
  return html`<div class="cards-drawn">
    <${Playing} card=${first} seat=${0}/><${Playing} card=${second} seat=${1}/>
    <div class="table-talk">${parts.map(part => {
      const moves = /^Moves: (.*)\.$/.exec(part);
      if (!moves) return html`<p>${part}</p>`;
      if (moves[1] === 'none') return html`<p class="muted">no move yet</p>`;
      return html`<ol class="moves">${moves[1].split(' ').map((m, i) => html`<li><${Seat} n=${i % 2}/> ${m}</li>`)}</ol>`;
    })}</div>
  </div>`;
}

// Lines of equal length that hold nothing but one-letter cells.
const isGrid = lines => lines.length >= 3 && lines[0].length >= 3 && lines[0].length <= 20 &&
  lines.every(l => l.length === lines[0].length && /^[xo.\-0-9a-z#*~+]+$/i.test(l)) &&
  lines.some(l => /[xo.]/i.test(l)) && !lines.some(l => /[a-z]{4}/i.test(l.replace(/[xo]/gi, '.')));

const NAMES = { x: 'x', o: 'o' };

// One square; with a word, a button that says it.
function Cell({ c, word, onPick }) {
  const piece = NAMES[c.toLowerCase()], shown = c === '.' ? '' : c;
  if (word) return html`<button type="button" class="cell free" aria-label=${word} onClick=${() => onPick(word)}>${shown || '·'}</button>`;
  return html`<span class=${'cell' + (piece ? ' piece-' + piece : shown && ' free')}>${
    piece === 'x' ? html`<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M4 4L16 16M16 4L4 16"/></svg>`
      : piece === 'o' ? html`<svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="6.5"/></svg>`
      : shown}</span>`;
}

// What is free carries its name; where that is a move that may be made, it is a button.
function Grid({ lines, legal, onPick }) {
  const columns = lines[0].length;
  return html`<div class="grid" role=${onPick ? 'region' : 'img'} aria-label=${'Board, row by row: ' + lines.join(' / ')} style=${{ gridTemplateColumns: `repeat(${columns}, 1fr)`, '--columns': columns }}>
    ${lines.flatMap((l, y) => [...l].map((c, x) => {
      const word = onPick && !NAMES[c.toLowerCase()] && legal.includes(c) ? c : null;
      return html`<${Cell} key=${y + '.' + x} c=${c} word=${word} onPick=${onPick}/>`;
    }))}
  </div>`;
}

// "3 . x o" with letters above or below: squares have names. Rows of hex boards are shifted.
const ROW = /^( *\d+ +)([xo.](?: ?[xo.])*)$/, LETTERS = /^ +([a-z](?: ?[a-z])*)$/;

function readLabelled(lines) {
  const rows = lines.map(l => ROW.exec(l)).filter(Boolean).map(m => ({ at: m[1].length, label: m[1].trim(), cells: [...m[2].replaceAll(' ', '')] }));
  const names = lines.map(l => LETTERS.exec(l)).find(Boolean)?.[1].replaceAll(' ', '');
  const good = names && rows.length >= 3 && rows.length + 1 === lines.length && rows.every(r => r.cells.length === names.length);
  return good ? { rows, names: [...names], top: LETTERS.test(lines[0]) } : null;
}

function Labelled({ board, text, legal, onPick }) {
  const { rows, names, top } = board, columns = names.length + 1;
  const label = (c, key) => html`<span key=${key} class="cell label">${c}</span>`;
  const letters = html`<div class="line" key="letters">${label('', 'none')}${names.map(n => label(n, n))}</div>`;
  return html`<div class="lines" role=${onPick ? 'region' : 'img'} aria-label=${'Board: ' + text} style=${{ '--columns': columns + (rows[rows.length - 1].at - rows[0].at) / 2 }}>
    ${top && letters}
    ${rows.map(r => html`<div class="line" key=${r.label} style=${{ '--shift': (r.at - rows[0].at) / 2 }}>${label(r.label, 'label')}${r.cells.map((c, i) => {
      const word = onPick && legal.includes(names[i] + r.label) ? names[i] + r.label : null;
      return html`<${Cell} key=${names[i]} c=${c} word=${word} onPick=${onPick}/>`;
    })}</div>`)}
    ${!top && letters}
  </div>`;
}

// Text with every lone x and o as a piece.
const Text = ({ text }) => html`<pre class="drawn">${visible(text).split(/(?<![A-Za-z])([xo])(?![A-Za-z])/g).map((piece, i) =>
  (i % 2 ? html`<b class=${'ink-' + piece}>${piece}</b>` : piece))}</pre>`;

// legal, onPick: where a person is to move, the words that may be said and what to do with one.
export function Board({ drawing, legal, onPick }) {
  if (drawing === null || drawing === undefined) return html`<p class="nothing">This game has no drawing; the prompts say how it stands.</p>`;
  const lines = drawing.split('\n');
  if (lines.every(l => /^Cards: \S+ [^\s.]+/.test(l))) return lines.map((line, i) => html`<${Cards} key=${i} line=${line}/>`);
  if (isGrid(lines)) return html`<${Grid} lines=${lines} legal=${legal} onPick=${onPick}/>`;
  const labelled = readLabelled(lines);
  if (labelled) return html`<${Labelled} board=${labelled} text=${drawing} legal=${legal} onPick=${onPick}/>`;
  // A heading line above a board, or lines below it.
  for (const [from, to] of [[1, lines.length], [0, lines.length - 1], [1, lines.length - 1]])
    if (isGrid(lines.slice(from, to)))
      return html`${from > 0 && html`<${Text} text=${lines.slice(0, from).join('\n')}/>`}<${Grid} lines=${lines.slice(from, to)} legal=${legal} onPick=${onPick}/>${
        to < lines.length && html`<${Text} text=${lines.slice(to).join('\n')}/>`}`;
  return html`<${Text} text=${drawing}/>`;
}
