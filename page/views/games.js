// Games: what can be played, its rules, and a table to play at.
import { html } from '../html.js';
import { useData } from '../api.js';
import { count } from '../format.js';
import { link } from '../route.js';
import { Asked, Card, Head, Scroll } from '../ui.js';
import { Play } from './play.js';

const facts = g => [
  g.perfect_information ? 'nothing hidden' : 'hidden information', g.chance ? 'with chance' : 'no chance', g.talk && 'with free talk', `at most ${count(g.max_plies)} moves`,
].filter(Boolean).join(', ');

function List({ data }) {
  const plays = name => data.run.some(s => s.replace(/\(.*/, '') === name);
  const played = name => data.played.filter(p => p.name === name).reduce((n, p) => n + p.matches, 0);
  return html`
    <${Head} title="Games">Two-player zero-sum games that are played in words. Open one to read its rules and to play against a policy. “agon games add” brings in more.<//>
    <div class="cards games">${[...data.games].sort((a, b) => plays(b.name) - plays(a.name)).map(g => html`<${Card} key=${g.name} title=${html`<a href=${link('games', g.name)}>${g.title}</a>`}
      aside=${plays(g.name) ? html`<span class="badge">in this run</span>` : ''}>
      <p class="muted">${facts(g)}</p>
      ${played(g.name) > 0 && html`<p class="muted"><a href=${link('matches', { game: g.name })}>${count(played(g.name))} matches</a> in this run</p>`}
    <//>`)}</div>
    ${data.outside.length > 0 && html`<${Card} title="From outside" note="Registered with “agon games add”: shared objects and programs."><ul>${data.outside.map(n => html`<li><a href=${link('games', n)}>${n}</a></li>`)}</ul><//>`}`;
}

function One({ data, name, query }) {
  const g = data.games.find(x => x.name === name);
  if (!g) return html`<${Head} title=${name.replaceAll('_', ' ')}>${data.outside.includes(name) ? `A game from outside: “agon games show ${name}” prints its rules.` : 'There is no such game here.'} <a href=${link('games')}>All games</a><//>
    ${data.outside.includes(name) && html`<${Play} game=${name} query=${query}/>`}`;
  const spec = data.run.find(s => s.replace(/\(.*/, '') === name) ?? g.name;
  return html`
    <${Head} title=${g.title}><code>${g.name}</code>, version ${g.version}: ${facts(g)}. A payoff of 1 is ${count(g.unit)} ${g.unit === 1 ? 'point' : 'points or chips'}. <a href=${link('games')}>All games</a><//>
    <${Play} game=${spec} title=${g.title} query=${query}/>
    <div class="cards two">
      <${Card} title="Rules" note="As seat 0 reads them; seat 1's differ where the seats do.">
        <p>${g.rules[0]}</p>
        ${g.rules[1] !== g.rules[0] && html`<details><summary>As seat 1 reads them</summary><p>${g.rules[1]}</p></details>`}
      <//>
      <${Card} title="A position" note=${`As seat ${g.example.seat ?? 0} sees it when it is asked.`}>
        ${g.example.view && html`<pre class="drawn wrapped">${g.example.view}</pre><p class="muted">It may say: <code>${g.example.legal}</code></p>`}
      <//>
      ${g.parameters.length > 0 && html`<${Card} title="Parameters" wide note="In a configuration or on the command line: name(parameter=value)."><${Scroll} label="Parameters"><table>
        <thead><tr><th>name</th><th>type</th><th>default</th><th>range</th><th>meaning</th></tr></thead>
        <tbody>${g.parameters.map(p => html`<tr><td><code>${p.name}</code></td><td>${p.type}</td><td>${p.default}</td><td>${p.type === 'bool' ? '' : `${p.min} to ${p.max}`}</td><td>${p.help}</td></tr>`)}</tbody>
      </table><//><//>`}
    </div>`;
}

export function Games({ args, query }) {
  const asked = useData('/api/games');
  return html`<${Asked} of=${asked} title="Games">${data => (args[0] ? html`<${One} key=${args[0]} data=${data} name=${args[0]} query=${query}/>` : html`<${List} data=${data}/>`)}<//>`;
}
