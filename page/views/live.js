// Live match: the newest finished match, shown turn by turn at a pace that can be followed.
import { html, useEffect, useRef, useState } from '../html.js';
import { headers, query as queryOf, token, useData } from '../api.js';
import { Board } from '../board.js';
import { count, signed, visible } from '../format.js';
import { epoch, readEvents } from '../live.js';
import { go, link } from '../route.js';
import { Card, Choice, Failure, Game, Head, Match, Nothing, Outcome, Player, Reason, Seat, useKeys } from '../ui.js';
import { useValue } from '../value.js';
import { Scale, Tokens } from './match.js';

const PACES = [['300', 'fast'], ['700', 'normal'], ['1500', 'slow'], ['4000', 'very slow']];
const PAST_MOST = 8;

// What the stream has told so far: the match, its turns, its end.
function useWatch(game, pace, held) {
  const [now, set] = useState({ match: null, turns: [], end: null, past: [], error: null });
  const back = useValue(epoch), known = useValue(token);
  useEffect(() => {
    if (held) return undefined;
    const gone = new AbortController();
    let again = 0;
    const take = (name, data) => {
      if (name === 'match') set(s => ({ ...s, match: data, turns: [], end: null, error: null, past: s.end ? [{ ...s.match, ...s.end }, ...s.past].slice(0, PAST_MOST) : s.past }));
      if (name === 'turn') set(s => ({ ...s, turns: [...s.turns, data] }));
      if (name === 'end') set(s => ({ ...s, end: data }));
    };
    const watch = async () => {
      try {
        const answer = await fetch('/api/live/match' + queryOf({ game, pace }), { headers: headers(), signal: gone.signal, cache: 'no-store' });
        if (!answer.ok) throw new Error((await answer.json()).error.message);
        await readEvents(answer.body, take);
        throw new Error('');
      } catch (e) {
        if (gone.signal.aborted) return;
        if (e.message && !(e instanceof TypeError)) set(s => ({ ...s, error: e.message }));
        again = setTimeout(watch, 3000);
      }
    };
    watch();
    return () => {
      clearTimeout(again);
      gone.abort();
    };
  }, [game, pace, held, back, known]);
  return now;
}

const Saying = ({ turn }) => html`<li class=${'saying saying' + turn.seat}>
  <div class="saying-head"><${Seat} n=${turn.seat}>seat ${turn.seat}<//> says${turn.verdict !== 'ok' ? html` <span class="reason forfeit">(${turn.verdict})</span>` : ''}</div>
  <div class="bubble"><bdi>${visible(turn.reply).slice(0, 300) || '(nothing)'}</bdi></div>
  ${turn.tokens.some(t => t.logp !== null) && html`<${Tokens} turn=${turn}/>`}
</li>`;

export function LiveMatch({ query }) {
  const [held, hold] = useState(false);
  const games = useData('/api/games'), talk = useRef(null);
  const now = useWatch(query.game, query.pace ?? '700', held);
  const choose = name => v => go(link('live', { ...query, [name]: v }), true);
  useKeys({ ' ': () => hold(!held) });
  useEffect(() => {
    if (talk.current) talk.current.scrollTop = talk.current.scrollHeight;
  }, [now.turns.length, now.end]);
  const m = now.match, last = now.turns[now.turns.length - 1];
  const specs = games.data?.run ?? [];
  return html`
    <${Head} title="Live match">Thousands of matches may end in a second, too many to follow. This picks the newest, shows it turn by turn, then picks the newest again.<//>
    <div class="choices">
      ${specs.length > 1 && html`<${Choice} label="Game" value=${query.game} onChange=${choose('game')} options=${[['', 'any game'], ...specs]}/>`}
      <${Choice} label="Pace" value=${query.pace ?? '700'} onChange=${choose('pace')} options=${PACES}/>
      <button type="button" aria-pressed=${held} onClick=${() => hold(!held)}>${held ? 'Go on' : 'Hold'}</button>
    </div>
    ${now.error && html`<${Failure}>${now.error}<//>`}
    ${!m ? html`<${Nothing}>Waiting for a match to be finished …<//>` : html`
      <div class="cards two">
        <${Card} title=${html`Match <${Match} id=${m.id}/>`} aside=${html`<${Game} spec=${m.game}/>, ${m.kind}`}>
          <p class="versus"><${Seat} n=${0}>seat 0<//> <${Player} id=${m.policy0_id} label=${m.player0}/> <span class="muted">against</span> <${Seat} n=${1}>seat 1<//> <${Player} id=${m.policy1_id} label=${m.player1}/></p>
          ${(now.end || last) && html`<${Board} drawing=${now.end ? now.end.drawing : last.drawing}/>`}
          <p class="verdict" aria-live="off">${now.end ? html`<${Outcome} m=${now.end}/> <${Reason} ...${now.end}/>` : html`<span class="muted">turn ${now.turns.length} of ${count(m.turns)}</span>`}</p>
          ${now.end?.seats?.some(s => s.advantage !== null) && html`<p class="note">Learned in step ${count(now.end.learned_in_step)}: ${now.end.seats.map(s => html`<${Seat} n=${s.seat}/> advantage ${signed(s.advantage)} `)}</p>`}
        <//>
        <${Card} title="What they say" note="The number under a token is the probability that the policy gave it.">
          <ol class="talk" ref=${talk}>${now.turns.map(t => html`<${Saying} key=${t.turn_no} turn=${t}/>`)}</ol>
          <${Scale}/>
        <//>
      </div>`}
    ${now.past.length > 0 && html`<${Card} title="Shown before"><ul class="feed">${now.past.map(p => html`<li key=${p.id}><${Match} id=${p.id}/> <${Game} spec=${p.game}/> <${Outcome} m=${p}/> <${Reason} ...${p}/></li>`)}</ul><//>`}`;
}
