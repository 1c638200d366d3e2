// Matches: the newest first, filtered; every row leads to its match.
import { html, useEffect, useState } from '../html.js';
import { get, useData } from '../api.js';
import { count, duration, localTime } from '../format.js';
import { go, link } from '../route.js';
import { Asked, Choice, Failure, Game, Head, Match, Nothing, Outcome, Player, Reason, Scroll, Seat } from '../ui.js';

const KINDS = [['', 'all kinds'], ['train', 'training'], ['warmup', 'warm-up'], ['eval', 'evaluation'], ['play', 'play']];
const REASONS = [['', 'any end'], 'play', 'invalid', 'no answer', 'time', 'crash', 'turn limit', 'aborted'];
const PAGE = 50;

export function MatchTable({ matches, seats }) {
  return html`<${Scroll} label="Matches"><table class="matches">
    <thead><tr><th>match</th><th>kind</th><th>game</th><th><${Seat} n=${0}>seat 0<//></th><th><${Seat} n=${1}>seat 1<//></th><th>result</th><th>ended</th>
      <th class="n">turns</th><th class="n">learned in step</th><th>started</th></tr></thead>
    <tbody>${matches.map(m => html`<tr key=${m.id}>
      <td><${Match} id=${m.id}/></td><td>${m.kind}</td><td><${Game} spec=${m.game}/></td>
      <td><${Player} id=${m.policy0_id} label=${m.player0}/></td><td><${Player} id=${m.policy1_id} label=${m.player1}/></td>
      <td><${Outcome} m=${m}/></td><td><${Reason} ...${m}/></td><td class="n">${m.turns}</td>
      <td class="n">${m.learned_in_step === null ? '–' : html`<a href=${link('matches', { step: m.learned_in_step })}>${count(m.learned_in_step)}</a>`}</td>
      <td title=${'took ' + duration(m.seconds)}>${localTime(m.started)}</td></tr>`)}</tbody>
  </table><//>`;
}

// What a learner step took: ids next to each other.
function useStep(step) {
  const [found, set] = useState({ step: null });
  useEffect(() => {
    if (step === undefined) return undefined;
    const gone = new AbortController();
    get('/api/steps', { before: Number(step) + 1, limit: 1 }, gone.signal).then(
      v => set({ step, row: v.steps.find(s => s.step === Number(step)) ?? null }),
      error => gone.signal.aborted || set({ step, error }));
    return () => gone.abort();
  }, [step]);
  return step === undefined ? null : found.step === step ? found : { busy: true };
}

export function Matches({ query }) {
  const { step, before, game, policy, kind, reason } = query;
  const at = useStep(step), games = useData('/api/games');
  const row = at?.row;
  const asked = useData(at && !row?.last_match ? null : '/api/matches', {
    game, policy, kind, reason, limit: PAGE, before: before ?? (row ? String(BigInt(row.last_match) + 1n) : undefined),
  }, before || step ? undefined : 5000);
  const choose = name => v => go(link('matches', { ...query, before: undefined, [name]: v }), true);
  const inStep = m => !row || BigInt(m.id) >= BigInt(row.first_match);
  return html`
    <${Head} title="Matches">Every match that was ever finished is here, newest first; open one to see each prompt, reply and token. A match is lost by play, or by its reply: one
      that is no legal move, comes too late, or never ends.<//>
    <div class="choices">
      <${Choice} label="Game" value=${game} onChange=${choose('game')} options=${[['', 'all games'], ...(games.data?.played ?? []).map(g => g.spec)]}/>
      <${Choice} label="Kind" value=${kind} onChange=${choose('kind')} options=${KINDS}/>
      <${Choice} label="End" value=${reason} onChange=${choose('reason')} options=${REASONS}/>
      <label class="choice"><span>Policy</span><input value=${policy ?? ''} placeholder="latest, random, hash …" onChange=${e => choose('policy')(e.currentTarget.value.trim())}/></label>
      <label class="choice"><span>Learned in step</span><input inputmode="numeric" value=${step ?? ''} placeholder="any" onChange=${e => choose('step')(e.currentTarget.value.replace(/\D/g, ''))}/></label>
    </div>
    ${at && !at.busy && !row && html`<${Nothing}>${at.error ? at.error.message : `There is no step ${count(Number(step))} (yet).`}<//>`}
    ${row && html`<p class="note">Step ${count(row.step)} learned from matches <${Match} id=${row.first_match}/> to <${Match} id=${row.last_match}/>
      (${count(row.matches)} matches, ${count(row.samples)} seats) and made ${html`<${Player} id=${row.policy_after_id} label=${row.policy_after}/>`}.</p>`}
    ${row && !row.last_match && html`<${Nothing}>This step made the first weights: it learned from no match.<//>`}
    ${(!at || row?.last_match) && html`<${Asked} of=${asked}>${data => {
      const rows = data.matches.filter(inStep), more = data.next && rows.length === data.matches.length;
      if (!rows.length) return html`<${Nothing}>No match is like that.<//>`;
      return html`<${MatchTable} matches=${rows}/>
        <p class="pages">${before && html`<a href=${link('matches', { ...query, before: undefined })}>newest</a>`}
          ${more && html`<a href=${link('matches', { ...query, before: data.next })}>older</a>`}</p>`;
    }}<//>`}
    ${asked.error && asked.data && asked.error.status !== 0 && html`<${Failure}>${asked.error.message}<//>`}`;
}
