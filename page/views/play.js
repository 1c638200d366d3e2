// A person plays against a policy. The match runs on the server in a process of its own; nothing of it
// is recorded. Playing needs the run's token.
import { html, useEffect, useRef, useState } from '../html.js';
import { call, token, useData } from '../api.js';
import { Board } from '../board.js';
import { signed, visible } from '../format.js';
import { TokenForm } from '../token.js';
import { Card, Choice, Failure, Seat } from '../ui.js';
import { useValue } from '../value.js';

const SCRIPTED = ['random', 'first', 'minimax'];
const WORDS_AS_BUTTONS = 60;

function Told({ e, me }) {
  if (e.event === 'start') return html`<li class="muted">You have <${Seat} n=${e.seat}>seat ${e.seat}<//> against ${e.against.label}.
    ${e.trained_on_it ? '' : e.against.kind === 'snapshot' ? ' It was not trained on this game, so expect nonsense.' : ''}</li>`;
  if (e.event === 'told') return html`<li>${visible(e.text)}</li>`;
  if (e.event === 'slip') return html`<li><span class="reason forfeit">Its reply was no legal move:</span> <bdi>${visible(e.reply).slice(0, 200) || '(nothing)'}</bdi></li>`;
  if (e.event === 'refused') return html`<li class="reason forfeit">${e.message}</li>`;
  if (e.event === 'error') return html`<li class="reason forfeit">${visible(e.message)}</li>`;
  if (e.event === 'end') return html`<li class="verdict"><b>${e.result > 0 ? 'You win' : e.result < 0 ? 'You lose' : 'A draw'}</b>${
    e.reason === 'invalid' ? ' (by an invalid reply)' : ''}: ${signed(e.chips, Number.isInteger(e.chips) ? 0 : 2)} ${Math.abs(e.chips) === 1 ? 'point' : 'points'}.</li>`;
  return null;
}

function Moves({ legal, talk, busy, say }) {
  const [text, setText] = useState(''), first = useRef(null);
  useEffect(() => first.current?.focus({ preventScroll: true }), [legal]);
  const buttons = legal.length <= WORDS_AS_BUTTONS && !talk;
  const send = e => {
    e.preventDefault();
    if (text.trim()) say(text);
  };
  return html`<form class="say" onSubmit=${send}>
    ${buttons && html`<ul class="words" aria-label="Your moves">${legal.map((w, i) => html`<li key=${w}><button type="button" ref=${i ? null : first} disabled=${busy} onClick=${() => say(w)}>${w}</button></li>`)}</ul>`}
    ${!buttons && html`<p class="muted">You may say, among others: ${legal.slice(0, 12).join(', ')}${legal.length > 12 ? ' …' : ''}</p>`}
    <label class="own">${buttons ? 'or in words' : 'Your words'} <input ref=${buttons ? null : first} value=${text} disabled=${busy} maxlength="4000" onInput=${e => setText(e.currentTarget.value)}/></label>
    <button type="submit" class="secondary" disabled=${busy || !text.trim()}>Say it</button>
  </form>`;
}

export function Play({ game, title, query }) {
  const known = useValue(token);
  const [against, setAgainst] = useState(query.against ?? 'latest'), [seat, setSeat] = useState('0');
  const [play, setPlay] = useState(null), [busy, setBusy] = useState(false), [error, setError] = useState(null);
  const snapshots = useData('/api/policies', { type: 'snapshot', limit: 30 });
  const session = useRef(null), log = useRef(null);
  const end = () => {
    if (session.current) call('DELETE', '/api/play/' + session.current).catch(() => {});
    session.current = null;
  };
  useEffect(() => end, []);
  useEffect(() => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  }, [play]);

  // One call that brings events; while the opponent thinks, it is asked again.
  const turn = async (ask, before) => {
    setBusy(true);
    setError(null);
    try {
      let answer = await ask(), events = [...before, ...answer.events];
      session.current = answer.session;
      setPlay({ ...answer, events });
      while (answer.state === 'thinking' && session.current === answer.session) {
        await new Promise(r => setTimeout(r, 1000));
        answer = await call('GET', '/api/play/' + answer.session);
        events = answer.events;
        setPlay({ ...answer, events });
      }
      if (answer.state === 'over' || answer.state === 'failed') end();
    } catch (e) {
      setError(e);
      if (e.status === 404) session.current = null;
    }
    setBusy(false);
  };
  const begin = () => {
    end();
    turn(() => call('POST', '/api/play', { game, against, seat: Number(seat) }), []);
  };
  const say = reply => turn(() => call('POST', '/api/play/' + session.current, { reply }), play.events);
  const leave = () => {
    end();
    setPlay(null);
    setError(null);
  };

  const asked = play?.events.findLast(e => e.event === 'turn'), over = play?.events.findLast(e => e.event === 'end');
  const mine = play?.state === 'turn' ? asked : null, start = play?.events.find(e => e.event === 'start');
  const list = snapshots.data?.policies.filter(p => p.kept) ?? [];
  const options = [['latest', 'the newest snapshot'], ...SCRIPTED, ...list.map(p => [p.name, p.label])];
  if (!options.some(o => (Array.isArray(o) ? o[0] : o) === against)) options.push([against, against.length === 64 ? against.slice(0, 8) : against]);
  return html`<${Card} title=${'Play ' + (title ?? game)} id="play" note="You against a policy. The match runs on the server and is not recorded.">
    ${!known || error?.status === 401 ? html`<${TokenForm} why=${known ? 'The token that this page has is not right (any more).' : 'Playing starts a process on the server, so it needs the run’s token.'}/>` : !play ? html`
      <div class="choices">
        <${Choice} label="Against" value=${against} onChange=${setAgainst} options=${options}/>
        <${Choice} label="Your seat" value=${seat} onChange=${setSeat} options=${[['0', 'seat 0 (goes first)'], ['1', 'seat 1']]}/>
        <button type="button" disabled=${busy} onClick=${begin}>${busy ? 'Starting …' : 'Begin'}</button>
      </div>` : html`
      <div class="cards two">
        <div>
          ${over?.drawing ? html`<${Board} drawing=${over.drawing}/>` : asked && (asked.drawing !== null ? html`<${Board} drawing=${asked.drawing} legal=${asked.legal} onPick=${mine && !busy ? say : null}/>` : html`<pre class="drawn wrapped">${visible(asked.view)}</pre>`)}
          ${mine ? html`<${Moves} legal=${mine.legal} talk=${start?.talk} busy=${busy} say=${say}/>`
            : html`<p class="note" role="status">${play.state === 'thinking' || busy ? 'It thinks …' : 'The match is over.'}</p>`}
        </div>
        <ol class="told" ref=${log} aria-live="polite" aria-label="What happened">${play.events.map((e, i) => html`<${Told} key=${i} e=${e}/>`)}</ol>
      </div>
      <div class="choices">${over || play.state === 'failed' ? html`<button type="button" onClick=${begin}>Play again</button>` : ''}
        <button type="button" class="secondary outline" onClick=${leave}>${over ? 'Another opponent' : 'Leave'}</button></div>`}
    ${error && error.status !== 401 && html`<${Failure}>${error.message}<//>`}
  <//>`;
}
