// The frame around the views: menu, state of the connection, help, keys.
import { html, render, useEffect, useErrorBoundary, useRef, useState } from './html.js';
import { takeTokenFromAddress, token } from './api.js';
import { count } from './format.js';
import { connection, startLive, status } from './live.js';
import { go, link, route, startRoute } from './route.js';
import { chosen, nextTheme, startTheme } from './theme.js';
import { TokenForm } from './token.js';
import { Failure, Head, useKeys } from './ui.js';
import { useValue } from './value.js';
import { views } from './views.js';

const LINKS = { up: 'live', connecting: 'connecting …', down: 'server gone', denied: 'token needed', full: 'too many pages' };

function State() {
  const state = useValue(connection), s = useValue(status);
  return html`<a class="state" href="#/overview" aria-label=${'Connection: ' + LINKS[state]}>
    <span class=${'dot ' + state} aria-hidden="true"></span>${LINKS[state]}
    ${state === 'up' && s && html`<span class="muted only-wide"> · step ${s.step < 0 ? '–' : count(s.step)} · ${count(s.rates.matches)} matches/s</span>`}
  </a>`;
}

// Says what stands between the page and the server, and what to do.
function Banner() {
  const state = useValue(connection), known = useValue(token);
  const since = useRef(0), [, tick] = useState(0);
  useEffect(() => {
    if (state !== 'down') return undefined;
    since.current = Date.now();
    const t = setInterval(() => tick(n => n + 1), 1000);
    return () => clearInterval(t);
  }, [state]);
  if (state === 'down') return html`<div class="banner" role="alert"><b>The server is gone</b> (for ${
    Math.round((Date.now() - since.current) / 1000)} s). What you see is the last that it said. The page goes on by itself as soon as the
    server answers at ${location.host} again; if it was started anew on another port, open the link that it printed.</div>`;
  if (state === 'full') return html`<div class="banner" role="alert">Too many pages listen to this server already: close some. Lists still work.</div>`;
  if (state === 'denied') return html`<div class="banner" role="alert"><${TokenForm} why=${known ? 'The token that this page has is not the server’s (any more).' : 'This server tells nothing without its token.'}/></div>`;
  return null;
}

const KEYS = [
  ['?', 'this list'], ['g, then a letter', 'a view: the letter is underlined in the menu'], ['t', 'light, dark, or as the system has it'],
  ['← →', 'in a match: one turn back or on; on a chart: along the line'], ['Home End', 'in a match: first and last turn'],
  ['Enter', 'on a chart: the matches of that step'], ['n p', 'in a match: the next or previous match'],
  ['Space', 'in the live match: hold and go on'], ['Ctrl+Enter', 'in SQL: ask'],
];

function Help({ dialog }) {
  return html`<dialog ref=${dialog} class="help" aria-label="Keys">
    <article>
      <h2>Keys</h2>
      <dl>${KEYS.map(([key, text]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl>
      <p class="muted">Every view's address can be shared with whoever can reach this server. Charts: drag to look closer, double-click for all.</p>
      <form method="dialog"><button autofocus>Close</button></form>
    </article>
  </dialog>`;
}

function underlined(title, key) {
  const i = title.toLowerCase().indexOf(key);
  return i < 0 ? html`${title} <u>${key}</u>` : html`${title.slice(0, i)}<u>${title[i]}</u>${title.slice(i + 1)}`;
}

function View() {
  const at = useValue(route), main = useRef(null), seen = useRef(null);
  const [error, retry] = useErrorBoundary();
  const view = views.find(v => v.name === at.name);
  const place = at.name + '/' + at.args.join('/');
  useEffect(() => {
    document.title = (view ? view.title + (at.args.length ? ' ' + at.args.join(' ') : '') + ' – ' : '') + 'Agon';
    // A new view begins at its heading, for keyboards and screen readers; not the first one.
    if (seen.current !== null && seen.current !== at.name) {
      scrollTo(0, 0);
      (main.current.querySelector('h1') ?? main.current).focus({ preventScroll: true });
    }
    seen.current = at.name;
    if (error) retry();
  }, [place]);
  return html`<main id="main" ref=${main} tabindex="-1">
    ${error ? html`<${Head} title="Something is wrong with this view"/><${Failure}>${String(error.message ?? error)}<//>`
      : view ? html`<${view.show} key=${view.name} args=${at.args} query=${at.query}/>`
      : html`<${Head} title="There is no such view">The menu has those there are.<//>`}
  </main>`;
}

function App() {
  const at = useValue(route), look = useValue(chosen), help = useRef(null), g = useRef(0);
  const menu = views.filter(v => v.menu);
  const current = views.find(v => v.name === at.name);
  const keys = { '?': () => help.current.showModal(), t: nextTheme, g: () => { g.current = Date.now(); } };
  useEffect(() => {
    // Before the others see it: a letter behind g is a view.
    const press = e => {
      if (Date.now() - g.current > 1500 || e.ctrlKey || e.metaKey || e.altKey || e.key.length !== 1) return;
      g.current = 0;
      const view = menu.find(v => v.key === e.key);
      if (!view) return;
      e.preventDefault();
      e.stopImmediatePropagation();
      go(link(view.name));
    };
    addEventListener('keydown', press, true);
    return () => removeEventListener('keydown', press, true);
  }, []);
  useKeys(keys);
  const skip = e => {
    e.preventDefault();
    document.getElementById('main').focus();
  };
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <a class="brand" href="#/overview"><img src="/page/icon.svg" alt="" width="26" height="26"/> Agon</a>
      <nav aria-label="Views"><ul>
        ${menu.map(v => html`<li><a href=${link(v.name)} aria-current=${current && (current.name === v.name || current.under === v.name) ? 'page' : undefined}>${
          underlined(v.title, v.key)}</a></li>`)}
      </ul></nav>
      <div class="tools">
        <${State}/>
        <button type="button" class="tool" onClick=${nextTheme} aria-label=${'Colours: ' + look}>${{ auto: '◐', light: '☀', dark: '☾' }[look]}</button>
        <button type="button" class="tool" onClick=${() => help.current.showModal()} aria-label="Help: keys">?</button>
      </div>
    </header>
    <${Banner}/>
    <${View}/>
    <${Help} dialog=${help}/>`;
}

takeTokenFromAddress();
startTheme();
startRoute();
addEventListener('hashchange', takeTokenFromAddress);
startLive();
render(html`<${App}/>`, document.body);
