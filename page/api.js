// The one client of the HTTP API. It knows the token, turns refusals into errors with a sentence, and
// lets components ask for data that is loaded again when the server comes back.
import { useCallback, useEffect, useRef, useState } from './html.js';
import { epoch } from './live.js';
import { go } from './route.js';
import { useValue, value } from './value.js';

const PATIENCE_MS = 40000; // a move of a policy that thinks takes up to 30 s

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// ---- the token ----
// `agon train` and `agon serve` print a link that ends in #token=...; a fragment is never sent to a
// server. It is kept for this tab only, and taken out of the address so that links can be shared.

function keep(name, text) {
  try {
    if (text === undefined) return sessionStorage.getItem(name) ?? '';
    sessionStorage.setItem(name, text);
  } catch { /* storage is forbidden: the token lasts until the page is loaded again */ }
  return text ?? '';
}

export const token = value(keep('token'));

export function setToken(text) {
  keep('token', text);
  token.set(text);
}

export function takeTokenFromAddress() {
  const found = /^#token=([0-9a-zA-Z]+)&?(.*)$/.exec(location.hash);
  if (!found) return;
  setToken(found[1]);
  go('#' + (found[2] || '/'), true);
}

export function headers() {
  return token.get() ? { Authorization: 'Bearer ' + token.get() } : {};
}

// ---- calls ----

export function query(params) {
  const given = Object.entries(params ?? {}).filter(([, v]) => v !== undefined && v !== null && v !== '');
  return given.length ? '?' + new URLSearchParams(given) : '';
}

const pause = ms => new Promise(r => setTimeout(r, ms));

// A server that is busy says when to ask again; readings do.
export async function call(method, path, body, signal) {
  for (let tries = 0; ; tries++) {
    try {
      return await callOnce(method, path, body, signal);
    } catch (e) {
      if (e.status !== 503 || method !== 'GET' || tries === 3) throw e;
      await pause(500 + 1000 * tries);
    }
  }
}

async function callOnce(method, path, body, signal) {
  const late = AbortSignal.timeout(PATIENCE_MS);
  let answer, read;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? headers() : { ...headers(), 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal && AbortSignal.any ? AbortSignal.any([signal, late]) : signal ?? late,
      cache: method === 'GET' ? 'no-cache' : 'reload', // what somebody does is answered anew
    });
    if (answer.status === 204) return null;
    read = await answer.json();
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new ApiError(0, 'gone', 'The server does not answer.');
  }
  if (answer.ok) return read;
  throw new ApiError(answer.status, read?.error?.code ?? 'http', read?.error?.message ?? 'status ' + answer.status);
}

export const get = (path, params, signal) => call('GET', path + query(params), undefined, signal);

// ---- data of a component ----

// { data, error, busy, reload }. It is loaded anew when the address changes, every `every` ms, when the
// server is back, and by reload(); the old data stands meanwhile. path null: nothing is asked.
export function useData(path, params, every) {
  const [state, setState] = useState({ data: null, error: null, busy: true, of: null });
  const address = path === null ? null : path + query(params);
  const back = useValue(epoch), known = useValue(token);
  const again = useRef(() => {});
  useEffect(() => {
    if (address === null) return undefined;
    let timer = 0, gone = new AbortController();
    const load = async () => {
      clearTimeout(timer);
      gone.abort();
      gone = new AbortController();
      const mine = gone;
      try {
        const data = await get(address, null, mine.signal);
        if (!mine.signal.aborted) setState({ data, error: null, busy: false, of: address });
      } catch (error) {
        if (mine.signal.aborted) return;
        setState(s => ({ ...s, data: s.of === address ? s.data : null, error, busy: false, of: address }));
      }
      const soon = mine.signal.aborted ? 0 : every;
      if (soon) timer = setTimeout(load, document.hidden ? 5 * soon : soon);
    };
    again.current = load;
    setState(s => ({ ...s, busy: true }));
    load();
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [address, every, back, known]);
  const reload = useCallback(() => again.current(), []);
  return { ...state, data: state.of === address ? state.data : null, stale: state.data, reload };
}
