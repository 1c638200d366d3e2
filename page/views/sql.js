// SQL: one SELECT over the run's database, read-only, with examples to begin from.
import { html, useState } from '../html.js';
import { call } from '../api.js';
import { count, duration, visible } from '../format.js';
import { go, link } from '../route.js';
import { Card, Failure, Head, Nothing, Scroll } from '../ui.js';

const EXAMPLES = [
  ['Newest matches', 'SELECT id, kind, player0, player1, outcome, reason FROM v_matches ORDER BY id DESC LIMIT 20'],
  ['How learning goes', 'SELECT step, samples, loss, entropy, invalid, reward_0, baseline_0 FROM v_steps ORDER BY step DESC LIMIT 50'],
  ['NashConv by step', "SELECT step, policy_id IS NULL AS mixture, report ->> 'nash_conv' AS nash_conv FROM eval WHERE kind = 'exact' ORDER BY step"],
  ['Why matches were lost', 'SELECT reason, game, player, matches FROM v_forfeits ORDER BY matches DESC LIMIT 20'],
  ['What step 1 learned from', 'SELECT match_id, seat, ret, baseline, advantage FROM v_samples WHERE step = 1 LIMIT 100'],
  ['What is said most in answer to a prompt', 'SELECT p.text AS prompt, t.reply, count(*) AS times FROM turn t JOIN prompt p ON p.id = t.prompt_id WHERE t.match_id > (SELECT max(id) - 2000 FROM match) GROUP BY 1, 2 ORDER BY 1, times DESC LIMIT 60'],
  ['Speed by minute', 'SELECT * FROM v_speed ORDER BY minute DESC LIMIT 20'],
  ['Tables and views', "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY type, name"],
];

const LINKS = { match_id: 'match', policy_id: 'policy', policy0_id: 'policy', policy1_id: 'policy', opponent_id: 'policy' };

function Cell({ column, v }) {
  if (v === null) return html`<span class="muted">NULL</span>`;
  if (LINKS[column] && /^\d+$/.test(v)) return html`<a href=${link(LINKS[column], v)}>${v}</a>`;
  return html`<bdi>${visible(String(v)).slice(0, 400)}${String(v).length > 400 ? ' …' : ''}</bdi>`;
}

function Answer({ answer }) {
  const { columns, rows } = answer;
  if (!rows.length) return html`<${Nothing}>No rows.<//>`;
  return html`<p class="muted">${count(rows.length)} rows in ${duration(answer.seconds)}${answer.complete ? '' : '; there are more, these are the first'}</p>
    <${Scroll} label="Answer"><table class="rows"><thead><tr>${columns.map((c, i) => html`<th class=${typeof rows[0][i] === 'number' ? 'n' : ''}>${c}</th>`)}</tr></thead>
      <tbody>${rows.slice(0, 500).map(r => html`<tr>${r.map((v, i) => html`<td class=${typeof v === 'number' ? 'n' : ''}><${Cell} column=${columns[i]} v=${v}/></td>`)}</tr>`)}</tbody></table><//>
    ${rows.length > 500 && html`<p class="muted">Shown are the first 500.</p>`}`;
}

function csv({ columns, rows }) {
  const cell = v => (v === null ? '' : /[",\r\n]/.test(v) ? '"' + String(v).replaceAll('"', '""') + '"' : String(v));
  return [columns, ...rows].map(r => r.map(cell).join(',')).join('\r\n') + '\r\n';
}

function save(answer) {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(new Blob([csv(answer)], { type: 'text/csv' }));
  a.download = 'answer.csv';
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

export function Sql({ query }) {
  const [sql, setSql] = useState(query.q ?? EXAMPLES[0][1]);
  const [state, set] = useState({ answer: null, error: null, busy: false });
  const ask = async text => {
    setSql(text);
    go(link('sql', { q: text }), true);
    set(s => ({ ...s, busy: true, error: null }));
    try {
      set({ answer: await call('POST', '/api/sql', { sql: text }), error: null, busy: false });
    } catch (error) {
      set(s => ({ ...s, error, busy: false }));
    }
  };
  const key = e => {
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) ask(sql);
  };
  return html`
    <${Head} title="SQL">Ask the run's database yourself: one SELECT, at most two seconds and a thousand rows. Nothing can be changed here. The address holds the question, so it can be shared.<//>
    <div class="cards two">
      <${Card} title="Question">
        <textarea class="sql" rows="7" spellcheck="false" aria-label="SQL" value=${sql} onInput=${e => setSql(e.currentTarget.value)} onKeyDown=${key}></textarea>
        <div class="choices"><button type="button" disabled=${state.busy} onClick=${() => ask(sql)}>${state.busy ? 'Asking …' : 'Ask'}</button>
          <span class="muted"><kbd>Ctrl</kbd> <kbd>Enter</kbd></span>
          ${state.answer?.rows.length > 0 && html`<button type="button" class="secondary outline" onClick=${() => save(state.answer)}>Save as CSV</button>`}</div>
      <//>
      <${Card} title="Examples" note="The views named v_… are made for people; docs/database.md describes all of them."><ul class="examples">${EXAMPLES.map(([name, text]) => html`<li><button type="button" class="more" onClick=${() => ask(text)}>${name}</button></li>`)}</ul><//>
    </div>
    ${state.error && html`<${Failure}>${state.error.message}<//>`}
    ${state.answer && html`<${Card} title="Answer" wide><${Answer} answer=${state.answer}/><//>`}`;
}
