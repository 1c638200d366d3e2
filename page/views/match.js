// Match: one match turn by turn, with what was asked, said and learned.
import { html, useEffect } from '../html.js';
import { useData } from '../api.js';
import { Board } from '../board.js';
import { viridis } from '../colour.js';
import { count, duration, fixed, localTime, signed, visible } from '../format.js';
import { go, link } from '../route.js';
import { Asked, Card, Game, Head, Long, Nothing, Outcome, Player, Reason, Scroll, Seat, useKeys } from '../ui.js';

const VERDICTS = {
  ok: 'a legal move', 'no word': 'no move can be found in it', illegal: 'not a legal move', cut: 'cut off: it was too long', time: 'it came too late',
};
const LOWEST = -6; // log-probabilities below are shown alike
const TOKENS_MOST = 400;

export const probability = logp => Math.exp(logp);
const shade = logp => viridis(1 - Math.max(LOWEST, logp) / LOWEST);

export function Tokens({ turn }) {
  if (turn.thinned) return html`<${Nothing}>The tokens were thinned out to save room.<//>`;
  if (!turn.tokens.length) return html`<${Nothing}>A scripted player: no tokens.<//>`;
  const sampled = turn.tokens.some(t => t.logp !== null);
  return html`<div class="tokens">${turn.tokens.slice(0, TOKENS_MOST).map((t, i) => {
    const name = t.control ? '⟨' + t.control + '⟩' : visible(t.text).replace(/ /g, '␣').replace(/\n/g, '⏎') || '·';
    const p = t.logp === null ? '' : probability(t.logp);
    return html`<span key=${i} class="token" style=${t.logp === null ? {} : shade(t.logp)}
      title=${t.logp === null ? 'not sampled' : `log-probability ${fixed(t.logp, 4)}, probability ${(100 * p).toPrecision(3)} %`}>
      <bdi>${name}</bdi>${sampled && html`<small>${t.logp === null ? '' : p > 0.995 ? '1.0' : p >= 0.01 ? p.toFixed(2).slice(1) : '<.01'}</small>`}</span>`;
  })}${turn.tokens.length > TOKENS_MOST && html`<span class="muted"> … ${count(turn.tokens.length - TOKENS_MOST)} more</span>`}</div>`;
}

export const Scale = () => html`<div class="scale" role="img" aria-label="Colours: yellow is a token that the policy was sure of, dark violet one that it hardly ever says">
  <span>unlikely</span>${[-6, -4, -2.3, -1.2, -0.7, -0.3, 0].map(l => html`<i style=${shade(l)}>${l === -6 ? '<.01' : probability(l).toFixed(2).replace(/^0/, '')}</i>`)}<span>sure</span></div>`;

export function Turn({ turn, open }) {
  const ok = turn.verdict === 'ok';
  return html`
    <dl class="turn">
      <dt>Prompt</dt><dd>${turn.prompt === null ? html`<span class="muted">thinned out</span>` : html`<${Long} text=${visible(turn.prompt)}/>`}</dd>
      <dt>Reply</dt><dd><${Long} text=${visible(turn.reply)}/>${turn.escaped && html`<span class="muted">bytes that are no text are shown as \\xNN</span>`}</dd>
      <dt>Read as</dt><dd>${turn.word !== null ? html`<code><bdi>${visible(turn.word)}</bdi></code>, ` : ''}<span class=${ok ? '' : 'reason forfeit'}>${VERDICTS[turn.verdict] ?? turn.verdict}</span></dd>
      ${open !== false && html`<dt>Tokens</dt><dd><${Tokens} turn=${turn}/></dd>`}
    </dl>`;
}

function Seats({ m }) {
  const trained = m.seats.some(s => s.learned_in_step !== null);
  return html`<${Scroll} label="Seats"><table>
    <thead><tr><th>seat</th><th>player</th><th class="n">payoff</th>${trained && html`<th class="n">baseline</th><th class="n">advantage</th><th class="n">staleness</th>`}</tr></thead>
    <tbody>${m.seats.map(s => html`<tr><td><${Seat} n=${s.seat}/></td><td><${Player} id=${s.policy_id} label=${s.player}/>${s.forfeited && html` <span class="reason forfeit">forfeited</span>`}</td>
      <td class="n">${signed(s.payoff)}</td>${trained && html`<td class="n">${signed(s.baseline, 3)}</td><td class="n"><b>${signed(s.advantage, 3)}</b></td><td class="n">${s.staleness ?? '–'}</td>`}</tr>`)}</tbody>
  </table><//>
  <p class="note">${m.kind === 'warmup' && trained ? html`Imitated in step <a href=${link('matches', { step: m.learned_in_step })}>${count(m.learned_in_step)}</a>: in the warm-up the learner copies what the scripted player says, won or lost, to get to know what a legal reply looks like.` : trained
    ? html`Learned in step <a href=${link('matches', { step: m.learned_in_step })}>${count(m.learned_in_step)}</a>. Advantage = payoff − baseline: what a seat said became likelier where it is positive, less likely where it is negative.`
    : m.kind === 'train' ? 'The learner has not taken this match yet.' : 'Nothing was learned by reward from this match.'}</p>`;
}

function Steps({ m, at, to }) {
  return html`<ol class="steps" aria-label="Turns">${[...m.turns, null].map((t, i) => html`<li key=${i}>
    <a href=${to(i)} aria-current=${i === at ? 'step' : undefined}>${t ? html`<${Seat} n=${t.seat}/> <bdi>${visible(t.word ?? t.reply).slice(0, 24) || '(nothing)'}</bdi>${t.verdict !== 'ok' ? ' ✗' : ''}` : 'end'}</a></li>`)}</ol>`;
}

function Shown({ m, query }) {
  const most = m.turns.length;
  const at = Math.min(most, Math.max(0, query.turn === undefined ? 0 : Number(query.turn) || 0));
  const to = i => link('match', m.id, { turn: Math.min(most, Math.max(0, i)) || undefined });
  const other = d => go(link('match', String(BigInt(m.id) + d)));
  useKeys({
    ArrowLeft: () => go(to(at - 1), true), ArrowRight: () => go(to(at + 1), true),
    Home: () => go(to(0), true), End: () => go(to(most), true), n: () => other(1n), p: () => BigInt(m.id) > 1n && other(-1n),
  });
  useEffect(() => document.querySelector('.steps [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [at]);
  const turn = m.turns[at];
  return html`
    <${Head} title=${'Match #' + m.id}><${Game} spec=${m.game}/>, ${m.kind} match of iteration ${count(m.iteration)}: <${Outcome} m=${m}/> <${Reason} ...${m}/>.
      It began ${localTime(m.started)} and took ${duration(m.seconds)}.<//>
    ${m.detail && html`<p class="failure">${visible(m.detail)}</p>`}
    ${m.damage && html`<p class="failure" role="alert"><b>damage</b> ${visible(m.damage)}</p>`}
    <div class="choices">
      <button type="button" onClick=${() => go(to(at - 1), true)} disabled=${at === 0} aria-label="Previous turn">← back</button>
      <button type="button" onClick=${() => go(to(at + 1), true)} disabled=${at === most} aria-label="Next turn">on →</button>
      <span class="muted" role="status">${at < most ? `turn ${at + 1} of ${most}` : 'the end'}; arrow keys step, Home and End jump, n and p go to the next and previous match</span>
    </div>
    <${Steps} m=${m} at=${at} to=${to}/>
    <div class="cards two">
      <${Card} title=${at < most ? 'Position' : 'At the end'} note="As a spectator sees it who sees everything.">
        <${Board} drawing=${turn ? turn.drawing : m.drawing}/>
      <//>
      <${Card} title=${turn ? html`Turn ${at + 1}: seat ${turn.seat} is asked` : 'Result'} aside=${turn && html`<${Player} id=${turn.policy_id} label=${turn.player}/>`}>
        ${turn ? html`<${Turn} turn=${turn}/>${turn.tokens.some(t => t.logp !== null) && html`<${Scale}/><p class="note">Each token's colour and number say how likely the policy held it at that point.</p>`}`
          : html`<p><${Outcome} m=${m}/> <${Reason} ...${m}/>.</p>`}
      <//>
      <${Card} title="What the seats got" wide><${Seats} m=${m}/><//>
    </div>`;
}

export function OneMatch({ args, query }) {
  const asked = useData('/api/matches/' + encodeURIComponent(args[0] ?? '0'));
  return html`<${Asked} of=${asked} title=${'Match #' + (args[0] ?? '')}>${m => html`<${Shown} m=${m} query=${query}/>`}<//>
    ${!asked.data && asked.error && html`<p><a href=${link('matches')}>All matches</a></p>`}`;
}
