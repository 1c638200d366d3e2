// Health: the machine, the processes, and what happened.
import { html } from '../html.js';
import { useData } from '../api.js';
import { ago, bytes, count, duration, percent, visible } from '../format.js';
import { status } from '../live.js';
import { go, link } from '../route.js';
import { Asked, Card, Choice, Head, Nothing, Scroll, Stat } from '../ui.js';
import { useValue } from '../value.js';

export function Health({ query }) {
  const asked = useData('/api/health', null, 3000), s = useValue(status);
  const events = useData('/api/events', { level: query.level, before: query.before, limit: 40 }, query.before ? undefined : 5000);
  const choose = v => go(link('health', { level: v }), true);
  return html`
    <${Head} title="Health">Whether the server, its workers and the machine are well. The same numbers are at <a href="/metrics">/metrics</a> for Prometheus.<//>
    <${Asked} of=${asked}>${h => {
      const m = h.machine;
      return html`
        <p class=${h.ok ? 'fine' : 'failure'} role="status">${h.ok ? html`<b>✓ ${h.warnings.length ? 'The server is well' : 'All is well'}:</b> workers are ready, and the database can be written.` : html`<b>✗ Something is wrong:</b> ${h.paused ? 'the database cannot be written.' : 'no worker is ready.'}`}</p>
        ${h.warnings.map(w => html`<p class="failure" role="alert"><b>${w.code}</b> ${w.message}</p>`)}
        <div class="stats">
          <${Stat} label="Workers ready" value=${h.workers_ready} unit=${'of ' + h.workers} note=${s ? `${count(s.workers.restarts)} restarts since the server was started` : ''}/>
          <${Stat} label="Learner" value=${s ? (s.learner.present ? (s.learner.waiting ? 'waits' : 'at work') : 'absent') : '–'} note="it takes finished batches and makes snapshots"/>
          <${Stat} label="Disk free" value=${bytes(m.disk_free_bytes)} note=${`${percent(m.disk_free_bytes / m.disk_bytes, 0)} of ${bytes(m.disk_bytes)}`}/>
          <${Stat} label="Database" value=${bytes(m.database_bytes)} note=${`and ${bytes(m.wal_bytes)} of write-ahead log`}/>
          <${Stat} label="Server's memory" value=${bytes(m.memory_bytes)} note="resident; workers and learner have their own"/>
          <${Stat} label="Connections" value=${count(m.connections)} note=${`${count(m.descriptors)} of ${count(m.descriptors_most)} file descriptors in use`}/>
          <${Stat} label="Arithmetic" value=${h.kernel || '–'} note="kernel that the workers' matrix products use"/>
          <${Stat} label="Server runs for" value=${s ? duration(s.since_start.seconds) : '–'} note=${s ? `${count(s.since_start.matches)} matches since then` : ''}/>
        </div>`;
    }}<//>
    <${Card} title="What happened" wide note="Starts and ends of processes, restarts, refused steps, full disks; newest first.">
      <div class="choices"><${Choice} label="Level" value=${query.level} onChange=${choose} options=${[['', 'all'], 'error', 'warn', 'info', 'debug']}/></div>
      <${Asked} of=${events}>${data => (!data.events.length ? html`<${Nothing}>Nothing of that kind.<//>` : html`
        <${Scroll} label="Events"><table><thead><tr><th>when</th><th>level</th><th>part</th><th>what</th></tr></thead>
          <tbody>${data.events.map(e => html`<tr key=${e.id}><td title=${new Date(e.at_ms).toLocaleString()}>${ago(e.at_ms)}</td><td><span class=${'level ' + e.level}>${e.level}</span></td><td>${e.module}</td><td class="event">${visible(e.text)}</td></tr>`)}</tbody></table><//>
        <p class="pages">${query.before && html`<a href=${link('health', { level: query.level })}>newest</a>`}${data.next && html`<a href=${link('health', { level: query.level, before: data.next })}>older</a>`}</p>`)}<//>
    <//>`;
}
