// The one live feed: /api/live read as a stream (EventSource could not send the token). When it breaks
// it is opened again until the server is back; then `epoch` grows, and all data is loaded anew.
import { useEffect } from './html.js';
import { headers, token } from './api.js';
import { value } from './value.js';

const SILENCE_MS = 6000; // the server says something every second
const RETRY_MS = [300, 1000, 2000, 3000];

export const connection = value('connecting'); // then: up, down, denied, full
export const status = value(null);       // the newest `status` event
export const recent = value([]);         // the newest matches, newest first
export const speeds = value([]);         // { at, matches, tokens }: one a second, for the last minutes
export const epoch = value(0);
const RECENT_MOST = 40, SPEEDS_MOST = 180;

const listeners = new Set();

// Calls f(event name, data) for each event of the run while the component is there.
export function useLive(f, deps) {
  useEffect(() => {
    listeners.add(f);
    return () => listeners.delete(f);
  }, deps);
}

// Splits a stream of bytes into server-sent events.
export async function readEvents(body, onEvent, onBytes) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value: piece } = await reader.read();
    if (done) return;
    onBytes?.();
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { data: '' };
      for (const line of block.split('\n')) {
        const colon = line.indexOf(':');
        if (colon > 0) event[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, '');
      }
      if (event.event) onEvent(event.event, JSON.parse(event.data), event.id);
    }
  }
}

let newest = '', boot = '';

function take(name, data, id) {
  if (id) {
    newest = id;
    if (boot && boot !== id.split('-')[0]) recent.set([]); // another start of the server
    boot = id.split('-')[0];
  }
  if (name === 'status') {
    status.set(data);
    // The server's rates are of its last ten seconds; these are of the last one.
    const list = speeds.get(), last = list[list.length - 1], n = data.since_start;
    const dt = last ? n.seconds - last.since.seconds : 0;
    const fresh = !last || dt < 0;
    speeds.set([...(fresh ? [] : list.slice(1 - SPEEDS_MOST)), {
      at: data.at_ms,
      since: n,
      matches: !fresh && dt > 0.2 ? (n.matches - last.since.matches) / dt : null,
      tokens: !fresh && dt > 0.2 ? (n.tokens - last.since.tokens) / dt : null,
    }]);
  }
  if (name === 'match') recent.set([data, ...recent.get()].slice(0, RECENT_MOST));
  for (const f of [...listeners]) f(name, data);
}

async function listen() {
  const gone = new AbortController();
  let quiet = 0;
  const heard = () => {
    clearTimeout(quiet);
    quiet = setTimeout(() => gone.abort(), SILENCE_MS);
  };
  const unwatch = token.watch(() => gone.abort());
  heard();
  try {
    const answer = await fetch('/api/live', {
      headers: newest ? { ...headers(), 'Last-Event-ID': newest } : headers(),
      signal: gone.signal,
      cache: 'no-store',
    });
    if (answer.status === 401) return 'denied';
    if (answer.status === 503) return 'full';
    if (!answer.ok) return 'down';
    if (connection.get() !== 'up') {
      if (connection.get() !== 'connecting') epoch.set(epoch.get() + 1);
      connection.set('up');
    }
    await readEvents(answer.body, take, heard);
  } catch { /* the server has gone, or the token has changed */
  } finally {
    clearTimeout(quiet);
    unwatch();
  }
  return 'down';
}

// For ever.
export async function startLive() {
  for (let tries = 0; ; tries++) {
    const before = token.get();
    const ended = await listen();
    if (connection.get() === 'up' && ended === 'down') tries = 0;
    if (token.get() !== before) continue;
    connection.set(ended);
    await new Promise(r => {
      const wake = setTimeout(done, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
      const unwatch = token.watch(done);
      function done() {
        clearTimeout(wake);
        unwatch();
        r();
      }
    });
  }
}
