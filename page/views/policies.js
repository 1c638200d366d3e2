// Policies: the snapshots that learning made, and the scripted players; one of them with its results.
import { html } from '../html.js';
import { useData } from '../api.js';
import { count, fixed, gameName, localTime, percent, signed } from '../format.js';
import { go, link } from '../route.js';
import { Asked, Card, Choice, Game, Head, Nothing, Player, Scroll, Stat } from '../ui.js';

const what = p => (p.kind === 'snapshot' ? `snapshot of step ${count(p.step)}` : 'scripted player');

export function Policies({ query }) {
  const asked = useData('/api/policies', { type: query.type, before: query.before, limit: 50 }, query.before ? undefined : 5000);
  const choose = v => go(link('policies', { type: v }), true);
  return html`
    <${Head} title="Policies">A policy maps what a seat is told to what it says. Each learner step freezes its weights as a snapshot, named by the hash of its file; it plays the next matches and never changes again.<//>
    <div class="choices"><${Choice} label="Which" value=${query.type} onChange=${choose} options=${[['', 'all'], ['snapshot', 'snapshots'], ['scripted', 'scripted players']]}/></div>
    <${Asked} of=${asked} empty=${d => !d.policies.length}>${data => html`
      <${Scroll} label="Policies"><table>
        <thead><tr><th>policy</th><th>kind</th><th>trained from</th><th>made</th><th class="n">seats played</th><th>matches</th><th>file</th></tr></thead>
        <tbody>${data.policies.map(p => html`<tr key=${p.id}>
          <td><${Player} id=${p.id} label=${p.label}/></td><td>${p.kind}</td>
          <td>${p.parent_id ? html`<a href=${link('policy', p.parent_id)}>#${p.parent_id}</a>` : '–'}</td>
          <td>${localTime(p.made)}</td><td class="n">${count(p.seats_played)}</td>
          <td><a href=${link('matches', { policy: p.id })}>matches</a></td>
          <td>${p.kind !== 'snapshot' ? '–' : p.kept ? html`<${Weights} p=${p}/>` : html`<span class="muted">not kept</span>`}</td></tr>`)}</tbody>
      </table><//>
      <p class="pages">${query.before && html`<a href=${link('policies', { type: query.type })}>newest</a>`}
        ${data.next && html`<a href=${link('policies', { type: query.type, before: data.next })}>older</a>`}</p>`}<//>`;
}

const Weights = ({ p }) => html`<a href=${`/api/policies/${p.id}/snapshot`} download=${p.name.slice(0, 12) + '.safetensors'}>download</a>`;

// Wins, draws and losses as a bar with its numbers.
export const Record = ({ wins, draws, losses }) => {
  const n = wins + draws + losses;
  return html`<span class="record" role="img" aria-label=${`${wins} won, ${draws} drawn, ${losses} lost`}>
    <i class="won" style=${{ flexGrow: wins / n }}></i><i class="drew" style=${{ flexGrow: draws / n }}></i><i class="lost" style=${{ flexGrow: losses / n }}></i></span>`;
};

function Results({ p }) {
  if (!p.payoff.length) return html`<${Nothing}>It has not finished a match yet.<//>`;
  return html`<${Scroll} label="Results"><table>
    <thead><tr><th>opponent</th><th>game</th><th>kind</th><th class="n">matches</th><th>won, drawn, lost</th><th></th><th class="n">score</th><th>95 % interval</th><th class="n">mean payoff</th></tr></thead>
    <tbody>${p.payoff.slice(0, 60).map(r => html`<tr>
      <td>${r.opponent_id === p.id ? html`<span class="muted">itself, seen from seat 0</span>` : html`<${Player} id=${r.opponent_id} label=${r.opponent}/>`}</td><td><${Game} spec=${r.game}/></td><td>${r.kind}</td><td class="n">${count(r.matches)}</td>
      <td>${count(r.wins)} · ${count(r.draws)} · ${count(r.losses)}</td><td><${Record} ...${r}/></td><td class="n">${percent(r.score, 1)}</td><td>${percent(r.low, 1)} – ${percent(r.high, 1)}</td><td class="n">${signed(r.mean, 3)}</td></tr>`)}</tbody>
  </table><//>${(p.payoff.length > 60 || !p.complete) && html`<p class="muted">There are more; the SQL view can ask v_payoff for all of them.</p>`}`;
}

function Evals({ p }) {
  if (!p.evals.length) return html`<${Nothing}>It has not been evaluated. “agon eval --policy ${p.name.slice(0, 8)}” does.<//>`;
  return html`<${Scroll} label="Evaluations"><table>
    <thead><tr><th>game</th><th>how</th><th class="n">NashConv</th><th class="n">invalid</th><th>against</th><th>when</th></tr></thead>
    <tbody>${p.evals.map(e => html`<tr><td><${Game} spec=${e.game}/></td><td>${e.kind === 'exact' ? 'whole game tree' : e.kind}</td><td class="n">${fixed(e.report.nash_conv, 4)}</td><td class="n">${percent(e.report.invalid)}</td>
      <td>${(e.report.against ?? []).map(a => html`<div>${a.name}: ${signed(a.mean, 3)} in ${count(a.matches)} matches</div>`)}</td><td>${new Date(e.at_ms).toLocaleString()}</td></tr>`)}</tbody>
  </table><//>`;
}

export function OnePolicy({ args }) {
  const asked = useData('/api/policies/' + encodeURIComponent(args[0] ?? '0'));
  return html`<${Asked} of=${asked} title="Policy">${p => html`
    <${Head} title=${p.label}>${what(p)[0].toUpperCase() + what(p).slice(1)}, made ${localTime(p.made)}.
      ${p.kind === 'snapshot' && html` Its name is the SHA-256 of its file: <code class="hash">${p.name}</code>`}<//>
    <div class="stats">
      <${Stat} label="Seats played" value=${count(p.seats_played)} href=${link('matches', { policy: p.id })} note="its matches"/>
      <${Stat} label="Games" value=${new Set(p.payoff.map(r => r.game)).size} note="that it has played"/>
      ${p.kind === 'snapshot' && html`<${Stat} label="Weights" value=${p.kept ? html`<${Weights} p=${p}/>` : 'not kept'} note=${p.kept ? 'safetensors; “agon policies export --hf” makes a folder for transformers' : 'snapshots.keep has dropped the file'}/>
      <${Stat} label="Play against it" value=${p.kept ? html`<a href=${link('games', gameName(p.payoff[0]?.game ?? '').replaceAll(' ', '_') || 'kuhn_poker', { against: p.name })}>play</a>` : '–'} note="in this page, with the run's token"/>`}
    </div>
    <div class="cards two">
      <${Card} title="Results" wide note="Score is wins plus half the draws as a share. Where an interval holds 50 %, nobody has been shown to be stronger."><${Results} p=${p}/><//>
      <${Card} title="Evaluations"><${Evals} p=${p}/><//>
      <${Card} title="Lineage" note="What it was trained from, nearest first.">
        ${p.lineage.length ? html`<ol class="lineage">${p.lineage.map(a => html`<li key=${a.id}><${Player} id=${a.id} label=${a.label}/> <span class="muted" title=${localTime(a.made)}>${a.kept ? '' : 'not kept'}</span></li>`)}</ol>`
          : html`<${Nothing}>It has no ancestors.<//>`}
      <//>
    </div>`}<//>
    ${!asked.data && asked.error && html`<p><a href=${link('policies')}>All policies</a></p>`}`;
}
