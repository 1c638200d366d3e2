// Overview: what is going on, how fast, where the time goes, what is wrong.
import { html } from '../html.js';
import { useData } from '../api.js';
import { Chart } from '../chart.js';
import { ago, bytes, count, duration, fixed, gameName, number, percent } from '../format.js';
import { recent, speeds, status } from '../live.js';
import { link } from '../route.js';
import { Asked, Card, Head, Match, Nothing, Outcome, Parts, Player, Progress, Reason, Stat } from '../ui.js';
import { useValue } from '../value.js';

// One sentence on what the run does right now.
function sentence(o) {
  const games = o.games.map(g => gameName(g.spec)).join(', ');
  const done = o.step >= o.last_step;
  if (o.paused) return `The run is paused: the database cannot be written now. Nothing is lost; it goes on when there is room.`;
  if (!o.workers.ready) return `No worker is ready, so nothing of ${games} is being played.`;
  if (done) return `The training of ${games} is complete. The matches and policies stay here to look at.`;
  if (!o.learner.present) return `Matches of ${games} are played until one batch is full; no learner takes them. Start “agon learn” to go on.`;
  if (o.step < 0) return `The learner is making its first weights for ${games}.`;
  return `A small language model teaches itself ${games} by playing against itself. It has learned ${count(o.step)} steps so far.`;
}

function Loop({ o }) {
  const items = [
    ['play', `${o.workers.ready} of ${o.workers.count} workers`, 'play matches with the newest snapshot; each move is a text reply, token by token'],
    ['collect', `${count(o.iteration.ready)} of ${count(o.iteration.batch)} matches`, 'of this iteration are finished; every one is stored'],
    ['learn', o.learner.present ? (o.learner.waiting ? 'learner waits' : 'learner at work') : 'no learner', 'replies of seats that did better than their baseline become likelier'],
    ['repeat', o.step < 0 ? 'no snapshot yet' : `snapshot ${count(o.step)}`, 'is the next opponent of itself'],
  ];
  return html`<ol class="loop">${items.map(([name, head, text]) => html`<li><span class="loop-name">${name}</span><b>${head}</b><span>${text}</span></li>`)}</ol>
    <${Progress} value=${o.iteration.ready} max=${o.iteration.batch} label="Matches of this iteration that are finished"/>`;
}

function Evaluation({ evals }) {
  const exact = evals.filter(e => e.kind === 'exact');
  if (!exact.length) return null;
  return html`${exact.slice(0, 2).sort((a, b) => (a.policy_id === null) - (b.policy_id === null)).map(e => html`<${Stat} label=${e.policy_id === null ? 'NashConv of the mixture' : 'NashConv, newest'}
    value=${fixed(e.report.nash_conv, 4)} href=${link('learning')}
    note=${`${gameName(e.game)}, step ${count(e.step)}. What perfect opponents could win from it; 0 is perfect play`}/>`)}`;
}

function Speed() {
  const list = useValue(speeds);
  if (list.length < 3) return html`<${Nothing}>Measuring: the line begins in a few seconds.<//>`;
  return html`<${Chart} name="Matches per second" time zero height=${170} x=${list.map(s => s.at / 1000)}
    series=${[{ name: 'matches/s', values: list.map(s => s.matches) }]}/>`;
}

function Newest() {
  const list = useValue(recent);
  if (!list.length) return html`<${Nothing}>No match has been finished since this page was opened.<//>`;
  return html`<ul class="feed">${list.slice(0, 7).map(m => html`<li key=${m.id}><${Match} id=${m.id}/> <${Outcome} m=${m}/> <${Reason} ...${m}/>${' '}<span class="muted">${m.kind === 'train' ? '' : m.kind + ' · '}<${Player} id=${m.policy0_id} label=${m.player0}/> against ${m.policy0_id === m.policy1_id ? 'itself' : html`<${Player} id=${m.policy1_id} label=${m.player1}/>`}</span></li>`)}</ul>`;
}

function Time({ t }) {
  if (!t.steps) return html`<${Nothing}>This is measured over learner steps; there are none yet.<//>`;
  return html`
    <${Parts} label="The learner's time" parts=${[
      { name: 'waiting for matches', value: t.waiting_for_matches },
      { name: 'computing gradients', value: t.learning },
      { name: 'writing snapshots, asking, other', value: t.other },
    ]}/>
    <p class="muted">Over the newest ${count(t.steps)} steps, ${duration(t.seconds)}. The workers had nothing to play for ${duration(t.workers_waiting_for_learner)} of it,
    because the learner was learning${t.waiting_for_matches > t.learning ? '. Playing is the bottleneck: more workers would help' : '. Learning is the bottleneck: more workers would not help'}.</p>`;
}

export function Overview() {
  const asked = useData('/api/overview', null, 4000);
  const live = useValue(status);
  return html`<${Asked} of=${asked} title="Overview">${data => {
    const o = { ...data, ...(live && live.at_ms > data.at_ms ? live : {}) };
    const d = o.database;
    return html`
      <${Head} title="Overview">${sentence(o)}<//>
      ${o.warnings.map(w => html`<p class="failure" role="alert"><b>${w.code}</b> ${w.message}</p>`)}
      <div class="stats">
        <${Stat} label="Learner step" value=${o.step < 0 ? '–' : count(o.step)} unit=${'of ' + count(o.last_step)} href=${link('learning')} note="updates of the weights"/>
        <${Stat} label="Matches played" value=${count(o.played)} href=${link('matches')} note="for training, in the whole run"/>
        <${Stat} label="Speed" value=${count(o.rates.matches)} unit="matches/s" note=${`${count(o.rates.tokens)} tokens/s sampled, last ten seconds`}/>
        <${Stat} label="Invalid replies" value=${percent(o.rates.invalid)} href=${link('matches', { reason: 'invalid' })} note="of the last matches were lost by one"/>
        <${Evaluation} evals=${o.evals}/>
      </div>
      <${Card} title="The loop" wide note="Self-play goes round and round; the numbers are those of this moment."><${Loop} o=${o}/><//>
      <div class="cards two">
        <${Card} title="Matches per second" note="Finished in each second while this page is open. Dips are normal: workers wait while the learner updates."><${Speed}/><//>
        <${Card} title="Where the time goes" note="If most of it is waiting for matches, playing is slower than learning."><${Time} t=${o.time}/><//>
        <${Card} title="Finished just now" aside=${html`<a href=${link('live')}>watch</a>`} note="Up to three of each second's matches."><${Newest}/><//>
        <${Card} title="The run" aside=${html`<a href=${link('health')}>health</a>`}>
          <dl class="facts">
            <div><dt>Folder</dt><dd><code>${o.run}</code></dd></div>
            <div><dt>Games</dt><dd>${o.games.map((g, i) => html`${i ? ', ' : ''}<a href=${link('games', g.spec.replace(/\(.*/, ''))}>${g.spec}</a>${o.games.length > 1 ? ` (weight ${number(g.weight)})` : ''}`)}</dd></div>
            <div><dt>Newest policy</dt><dd>${o.policy_id ? html`<${Player} id=${o.policy_id} label=${`step ${o.step} (${o.snapshot.slice(0, 8)})`}/>` : '–'}</dd></div>
            <div><dt>Stored</dt><dd>${count(d.matches)} matches, ${count(d.turns)} turns, ${count(d.tokens)} tokens in ${bytes(d.bytes)}</dd></div>
            <div><dt>Lost otherwise than by play</dt><dd>${count(d.forfeits)} matches, ${count(d.aborted)} aborted</dd></div>
            <div><dt>Server runs</dt><dd>for ${duration(o.since_start.seconds)}, newest match ${ago(d.last_ended_ms)}</dd></div>
          </dl>
        <//>
        ${o.events.length > 0 && html`<${Card} title="What happened lately" note="Warnings and errors of the last ten minutes." wide>
          <ul class="feed">${o.events.map(e => html`<li key=${e.id}><span class=${'level ' + e.level}>${e.level}</span> ${e.text} <span class="muted">${ago(e.at_ms)}</span></li>`)}</ul>
        <//>`}
      </div>`;
  }}<//>`;
}
