// Ratings: how strong the policies are, with intervals, and who beats whom.
import { html, useMemo } from '../html.js';
import { useData } from '../api.js';
import { blueOrange } from '../colour.js';
import { count, percent, signed } from '../format.js';
import { go, link } from '../route.js';
import { Asked, Card, Choice, Head, Nothing, Player, Scroll } from '../ui.js';

const TABLE_MOST = 25, MATRIX_MOST = 14;

// A rating's interval on the scale of all of them.
function Interval({ r, low, high }) {
  const at = v => Math.min(100, Math.max(0, (100 * (v - low)) / (high - low || 1)));
  return html`<svg class="interval" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <line x1=${at(0)} x2=${at(0)} y1="0" y2="10" class="zero"/>
    <line x1=${at(r.low)} x2=${at(r.high)} y1="5" y2="5" class="span"/>
    <rect x=${at(r.elo) - 0.8} y="1.5" width="1.6" height="7" class="mid"/></svg>`;
}

// The players that can be compared best, those with the most matches, and a few of the newest; strongest first.
function pick(ratings, most) {
  const places = ratings.map((r, i) => i), newest = Math.floor(most / 5);
  const chosen = new Set([...places].sort((a, b) => ratings[b].step - ratings[a].step).slice(0, newest));
  for (const i of places.sort((a, b) => ratings[b].matches - ratings[a].matches || a - b)) if (chosen.size < most) chosen.add(i);
  return ratings.map((r, i) => ({ ...r, at: i })).filter(r => chosen.has(r.at));
}

// Players who have met each other: each has played the most against those before it.
function acquainted({ ratings, pairs }, most) {
  const played = ratings.map(() => new Map()), chosen = new Set();
  for (const [a, b, w, d, l] of pairs) {
    played[a].set(b, (played[a].get(b) ?? 0) + w + d + l);
    played[b].set(a, (played[b].get(a) ?? 0) + w + d + l);
  }
  // Many opponents count for more than many matches.
  const ties = ratings.map((r, i) => played[i].size / 1000);
  while (chosen.size < Math.min(most, ratings.length)) {
    let best = -1;
    for (let i = 0; i < ratings.length; i++) if (!chosen.has(i) && (best < 0 || ties[i] > ties[best])) best = i;
    chosen.add(best);
    for (const [other, n] of played[best]) ties[other] += 1 + Math.min(n, 100) / 200;
  }
  return ratings.map((r, i) => ({ ...r, at: i })).filter(r => chosen.has(r.at));
}

function Matrix({ data }) {
  const { rows, cell } = useMemo(() => {
    const chosen = acquainted(data, MATRIX_MOST), met = new Map();
    const add = (a, b, w, d, l) => {
      const key = a + ',' + b, c = met.get(key) ?? { w: 0, d: 0, l: 0 };
      met.set(key, { w: c.w + w, d: c.d + d, l: c.l + l });
    };
    for (const [a, b, w, d, l] of data.pairs) {
      add(a, b, w, d, l);
      add(b, a, l, d, w);
    }
    return { rows: chosen, cell: (a, b) => met.get(a + ',' + b) };
  }, [data]);
  if (rows.length < 2) return html`<${Nothing}>Different policies have not met yet.<//>`;
  return html`<${Scroll} label="Who beats whom"><table class="matrix">
    <thead><tr><th></th>${rows.map((r, i) => html`<th class="n" title=${r.label}>${i + 1}</th>`)}</tr></thead>
    <tbody>${rows.map((r, i) => html`<tr key=${r.at}><th>${i + 1}. <${Player} id=${r.policy_id} label=${r.label}/></th>${rows.map(c => {
      const m = r.at === c.at ? null : cell(r.at, c.at), n = m ? m.w + m.d + m.l : 0;
      if (!n) return html`<td class="none">${r.at === c.at ? '·' : ''}</td>`;
      const score = (m.w + m.d / 2) / n;
      return html`<td style=${blueOrange(1 - 2 * score)} title=${`${r.label} against ${c.label}: ${count(m.w)} won, ${count(m.d)} drawn, ${count(m.l)} lost`}>${Math.round(100 * score)}</td>`;
    })}</tr>`)}</tbody>
  </table><//>
  <div class="scale" role="img" aria-label="Orange: the row loses. Blue: the row wins."><span>row loses</span>${[0, 25, 50, 75, 100].map(p => html`<i style=${blueOrange(1 - p / 50)}>${p} %</i>`)}<span>row wins</span></div>`;
}

function Table({ data }) {
  const shown = useMemo(() => {
    const list = data.ratings;
    return list.length <= TABLE_MOST ? list : pick(list, TABLE_MOST);
  }, [data]);
  const low = Math.min(0, ...shown.map(r => r.low)), high = Math.max(0, ...shown.map(r => r.high));
  const groups = new Set(shown.map(r => r.group)).size;
  return html`<${Scroll} label="Ratings"><table>
    <thead><tr><th class="n">rank</th><th>policy</th><th>kind</th><th class="n">rating</th><th>95 % interval</th><th aria-hidden="true"></th><th class="n">matches</th><th class="n">score</th>${groups > 1 && html`<th class="n">group</th>`}</tr></thead>
    <tbody>${shown.map(r => html`<tr key=${r.label}>
      <td class="n">${(r.at ?? data.ratings.indexOf(r)) + 1}</td><td><${Player} id=${r.policy_id} label=${r.label}/></td><td>${r.kind}</td><td class="n"><b>${signed(r.elo, 0)}</b></td>
      <td class="interval-text">${signed(r.low, 0)} to ${signed(r.high, 0)}</td><td><${Interval} r=${r} low=${low} high=${high}/></td><td class="n">${count(r.matches)}</td><td class="n">${percent(r.score, 1)}</td>
      ${groups > 1 && html`<td class="n">${r.group}</td>`}</tr>`)}</tbody>
  </table><//>
  ${shown.length < data.ratings.length && html`<p class="muted">Those with the most matches and the newest, ${shown.length} of ${data.ratings.length} rated ones.</p>`}
  ${!data.complete && html`<p class="muted">Not every policy is rated: the newest, and those with the most matches.</p>`}`;
}

export function Ratings({ query }) {
  const { game, kind } = query, forfeits = query.forfeits ?? 'yes';
  const games = useData('/api/games');
  const asked = useData('/api/ratings', { game, kind, forfeits }, 15000);
  const lost = useData('/api/forfeits', { game, limit: 15 });
  const choose = name => v => go(link('ratings', { ...query, [name]: v }), true);
  return html`
    <${Head} title="Ratings">How strong the policies are, from their matches against each other: 100 points more mean about 64 % of the points. Wide intervals mean few matches; where two intervals overlap widely, the order says little.<//>
    <div class="choices">
      <${Choice} label="Game" value=${game} onChange=${choose('game')} options=${[['', 'all games'], ...(games.data?.played ?? []).map(g => g.spec)]}/>
      <${Choice} label="Kind" value=${kind} onChange=${choose('kind')} options=${[['', 'all but the warm-up'], ['train', 'training'], ['warmup', 'warm-up'], ['eval', 'evaluation']]}/>
      <${Choice} label="Lost by an invalid reply" value=${forfeits} onChange=${choose('forfeits')} options=${[['yes', 'counts as a loss'], ['no', 'does not count']]}/>
      <button type="button" onClick=${() => { asked.reload(); lost.reload(); }}>Count again</button>
    </div>
    <${Asked} of=${asked}>${data => (data.ratings.length < 2 ? html`<${Nothing}>Ratings need matches between different policies, and there are none that count here. Pure self-play has none; older snapshots as opponents (schedule.opponents, schedule.past) or “agon eval --against” bring some.<//>` : html`
      <${Card} title="Ratings" wide note=${`Bradley-Terry, on Elo's scale. 0 is ${data.anchor === 'random' ? 'the scripted player random' : 'the mean of all'}. The bar shows the interval, the mark the rating, the thin line 0.`}><${Table} data=${data}/><//>
      <${Card} title="Who beats whom" wide note=${`Points that the row took from the column, in percent; 50 is even. Policies that have met each other, strongest first; in empty cells nobody met.`}><${Matrix} data=${data}/><//>`)}<//>
    <${Card} title="Lost otherwise than by play" wide note="Forfeits by player and reason, most first. They count above as losses unless you choose otherwise.">
      <${Asked} of=${lost}>${data => (!data.forfeits.length ? html`<${Nothing}>None.<//>` : html`<${Scroll} label="Forfeits"><table>
        <thead><tr><th>player</th><th>reason</th><th>game</th><th>kind</th><th class="n">matches</th></tr></thead>
        <tbody>${data.forfeits.map(f => html`<tr><td><${Player} id=${f.policy_id} label=${f.player}/></td><td><a href=${link('matches', { reason: f.reason, policy: f.policy_id })}>${f.reason}</a></td><td>${f.game}</td><td>${f.kind}</td><td class="n">${count(f.matches)}</td></tr>`)}</tbody>
      </table><//>`)}<//>
    <//>`;
}
