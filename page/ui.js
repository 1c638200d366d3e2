// Small parts that the views share.
import { html, useLayoutEffect, useRef, useState } from './html.js';
import { count, gameName, signed } from './format.js';
import { link } from './route.js';

// ---- frames ----

export const Head = ({ title, children }) => html`
  <header class="head">
    <h1 tabindex="-1">${title}</h1>
    ${children && html`<p class="lead">${children}</p>`}
  </header>`;

export const Card = ({ title, aside, note, wide, id, children }) => html`
  <section class=${'card' + (wide ? ' wide' : '')} aria-label=${title} id=${id}>
    ${title && html`<div class="card-head"><h2>${title}</h2>${aside && html`<div class="aside">${aside}</div>`}</div>`}
    ${note && html`<p class="note">${note}</p>`}
    ${children}
  </section>`;

export const Stat = ({ label, value, unit, note, href }) => html`
  <div class="stat">
    <div class="stat-label">${label}</div>
    <div class="stat-value">${href ? html`<a href=${href}>${value}</a>` : value}${unit && html`<span class="unit"> ${unit}</span>`}</div>
    ${note && html`<div class="stat-note">${note}</div>`}
  </div>`;

// What has not come, or cannot. `of` is what useData() gave; `title` stands until children bring their own.
export function Asked({ of, empty, title, children }) {
  if (of.data && !(empty && empty(of.data))) return children(of.data);
  if (title) return html`<${Head} title=${title}/><${Asked} of=${of}/>`;
  if (of.error && of.error.status !== 0) return html`<p class="failure" role="alert">${of.error.message}</p>`;
  if (of.data) return html`<p class="nothing">Nothing is here yet.</p>`;
  return html`<p class="nothing" aria-busy="true">${of.error ? 'Waiting for the server …' : 'Loading …'}</p>`;
}

export const Nothing = ({ children }) => html`<p class="nothing">${children}</p>`;
export const Failure = ({ children }) => html`<p class="failure" role="alert">${children}</p>`;

// A wide table scrolls by itself; it can be reached with the keyboard then.
export const Scroll = ({ label, children }) => html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>${children}</div>`;

// ---- names ----

export const Seat = ({ n, children }) => html`<span class=${'seat seat' + n} title=${'seat ' + n}>${children ?? n}</span>`;

export const Player = ({ id, label }) => (id && id !== '0' && label
  ? html`<a class="player" href=${link('policy', id)}>${label}</a>`
  : html`<span class="player">${label ?? '–'}</span>`);

export const Match = ({ id }) => html`<a href=${link('match', id)}>${count(Number(id)) === '–' ? id : '#' + id}</a>`;
export const Game = ({ spec }) => html`<span title=${spec}>${gameName(spec)}</span>`;

const REASONS = {
  play: 'by play', invalid: 'invalid reply', 'no answer': 'no answer', time: 'out of time',
  crash: 'crash', 'turn limit': 'turn limit', aborted: 'aborted',
};
export const Reason = ({ reason, loser }) => html`<span class=${'reason' + (reason === 'play' ? '' : ' forfeit')}>${REASONS[reason] ?? reason}${
  loser !== null && loser !== undefined ? html` of seat ${loser}` : ''}</span>`;

export function Outcome({ m }) {
  if (m.reason === 'aborted') return html`<span>no result</span>`;
  if (!m.result) return html`<span>draw</span>`;
  const seat = m.result > 0 ? 0 : 1;
  return html`<span class="outcome"><${Seat} n=${seat}/> won ${signed(Math.abs(m.result))}</span>`;
}

// Text from outside, as text; a very long one is cut until it is asked for.
export function Long({ text, most = 600, as = 'pre' }) {
  const [all, setAll] = useState(false);
  const cut = text.length > most && !all;
  const Tag = as;
  return html`<${Tag} class="said" dir="auto">${cut ? text.slice(0, most) : text}${
    text.length > most && html` <button type="button" class="more" onClick=${() => setAll(!all)}>${
      cut ? `… ${count(text.length - most)} characters more` : 'less'}</button>`}<//>`;
}

// ---- parts of a whole: a bar with names and numbers below it ----

export const Parts = ({ label, parts }) => {
  const sum = parts.reduce((s, p) => s + p.value, 0);
  const share = p => (sum > 0 ? p.value / sum : 0);
  return html`
    <div class="parts" role="img" aria-label=${label + ': ' + parts.map(p => `${p.name} ${Math.round(100 * share(p))} %`).join(', ')}>
      ${parts.map((p, i) => html`<span class=${'part part' + i} style=${{ flexGrow: share(p) }}></span>`)}
    </div>
    <ul class="keys">
      ${parts.map((p, i) => html`<li><span class=${'swatch part' + i}></span>${p.name} <b>${Math.round(100 * share(p))}${'\u00a0'}%</b>${
        p.note && html` <span class="muted">${p.note}</span>`}</li>`)}
    </ul>`;
};

export const Progress = ({ value, max, label }) => html`<progress value=${value} max=${max} aria-label=${label}></progress>`;

// ---- choices that stand in the address ----

export const Choice = ({ label, value, options, onChange }) => html`
  <label class="choice"><span>${label}</span>
    <select value=${value ?? ''} onChange=${e => onChange(e.currentTarget.value)}>
      ${options.map(o => {
        const [v, text] = Array.isArray(o) ? o : [o, o];
        return html`<option value=${v} selected=${v === (value ?? '')}>${text}</option>`;
      })}
    </select>
  </label>`;

// Keys, unless somebody types or holds a modifier. keys: { ArrowLeft: f, ... }
export function useKeys(keys) {
  const now = useRef(keys);
  now.current = keys;
  useLayoutEffect(() => {
    const press = e => {
      const busy = e.target.closest?.('input, select, textarea, [contenteditable], dialog[open], .plot, .scroll');
      if (e.ctrlKey || e.metaKey || e.altKey || busy || !now.current[e.key]) return;
      if (e.key === ' ' && e.target.closest?.('button, a, summary')) return;
      e.preventDefault();
      now.current[e.key]();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
