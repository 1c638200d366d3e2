// Learning: the measurements of the steps as charts, each with a sentence that says how to read it.
import { html, useMemo } from '../html.js';
import { useData } from '../api.js';
import { Chart } from '../chart.js';
import { count, fixed, gameName, isNumber, number, percent, signed } from '../format.js';
import { go, link } from '../route.js';
import { Asked, Card, Choice, Head, Nothing } from '../ui.js';

const CHARTS = [
  { title: 'Reward by seat', note: 'Mean payoff of each seat; the mixture of opponents makes them differ from mirror images. In a fair game of equals both are near 0; a lasting gap means that going first (or second) pays.',
    unit: 'payoff, −1 to 1', zero: true, format: v => signed(v, 3), lines: [['reward_0', 'seat 0'], ['reward_1', 'seat 1']] },
  { title: 'Baseline by seat', note: 'What each seat has come to expect: a moving average of its own rewards. A match teaches by how far it ends from this (the advantage), so a seat that is dealt the better side is not praised for it.',
    unit: 'payoff', zero: true, format: v => signed(v, 3), lines: [['baseline_0', 'seat 0'], ['baseline_1', 'seat 1']] },
  { title: 'Invalid replies', note: 'Share of matches that ended because a reply was no legal move. It falls fast while the model learns the rules’ words and should stay close to 0.',
    unit: 'share of matches', zero: true, format: v => percent(v), lines: [['invalid', 'invalid']] },
  { title: 'Entropy', note: 'How undecided the policy is when it picks a token: 0 means always the same one. It should sink slowly; a sudden fall to 0 means that it no longer explores.',
    unit: 'nats a token', zero: true, lines: [['entropy', 'entropy']] },
  { title: 'Distance from the magnet (KL)', note: 'How far the policy has moved from the slow average of its past that holds it back. A spike means that one step changed a lot.',
    unit: 'nats a token', zero: true, lines: [['kl_magnet', 'from the magnet'], ['kl_sampler', 'from the sampler']] },
  { title: 'Length of replies', note: 'Tokens in a reply, its end included. Growth without better play is rambling.',
    unit: 'tokens', lines: [['reply_tokens', 'tokens']] },
  { title: 'Gradient norm', note: 'How hard each step pulls at the weights. Single spikes are clipped; steady growth is a warning.',
    unit: 'norm', zero: true, lines: [['grad_norm', 'gradient norm']] },
  { title: 'Speed', note: 'Matches finished in a second, over each stretch of steps.',
    unit: 'matches/s', zero: true, format: count, lines: [['matches_s', 'matches/s']] },
];

// NashConv of each game: the newest snapshot's and the mixture's, by step.
function nash(evals) {
  const games = new Map();
  for (const e of evals) {
    if (e.kind !== 'exact' || !isNumber(e.nash_conv)) continue;
    if (!games.has(e.game)) games.set(e.game, new Map());
    const steps = games.get(e.game);
    steps.set(e.step, { ...steps.get(e.step), [e.policy_id === null ? 'mixture' : 'latest']: e.nash_conv });
  }
  return [...games].map(([game, steps]) => {
    const x = [...steps.keys()].sort((a, b) => a - b);
    return { game, x, latest: x.map(s => steps.get(s).latest ?? null), mixture: x.map(s => steps.get(s).mixture ?? null) };
  });
}

// Where games are too large to be solved: mean results of evaluations against others.
function versus(evals) {
  const names = new Map();
  for (const e of [...evals].reverse())
    for (const a of e.against ?? []) {
      if (e.policy_id === null || !isNumber(a.mean)) continue;
      const name = gameName(e.game) + ' against ' + a.name;
      if (!names.has(name)) names.set(name, new Map());
      names.get(name).set(e.step, a.mean);
    }
  const x = [...new Set([...names.values()].flatMap(m => [...m.keys()]))].sort((a, b) => a - b);
  return { x, series: [...names].map(([name, m]) => ({ name, points: true, values: x.map(s => m.get(s) ?? null) })) };
}

// Once it is small, what matters happens below a tenth of where it began.
const isSmall = ({ latest, mixture }) => {
  const all = [...latest, ...mixture].filter(v => v > 0);
  return all.length > 4 && Math.min(...all) < Math.max(...all) / 10;
};

const toStep = step => go(link('matches', { step: Math.round(step) }));

// Of the game that is chosen, where a run has several: its rewards, baselines and invalid replies.
function columnsOf(data, game) {
  const own = data.games?.[game] ?? {};
  return CHARTS.map(c => {
    const of = c.lines.some(([name]) => own[name]) ? own : data.steps;
    return {
      ...c,
      title: of === own ? `${c.title}: ${game.replaceAll('_', ' ')}` : c.title,
      series: c.lines.filter(([name]) => of[name]?.some(isNumber)).map(([name, label]) => ({ name: label, values: of[name] })),
    };
  });
}

const now = ({ latest }) => {
  const newest = latest.findLast(isNumber);
  return isNumber(newest) ? ` Now ${fixed(newest, 4)}.` : '';
};

function Charts({ data, game }) {
  const evals = useMemo(() => data.evals.filter(e => !game || e.game === game || e.game?.startsWith(game + '(')), [data, game]);
  const exact = useMemo(() => nash(evals), [evals]);
  const others = useMemo(() => versus(evals), [evals]);
  const x = data.steps.step ?? [];
  const columns = useMemo(() => columnsOf(data, game), [data, game]);
  if (!x.length) return html`<${Nothing}>The learner has not finished a step yet. The charts begin with its first.<//>`;
  return html`
    ${exact.map(e => html`<${Card} key=${e.game} title=${`NashConv of ${gameName(e.game)}`} wide
      note=${`The exact measure of play: what a perfect opponent would win from this policy, summed over both seats. 0 is an equilibrium, and no training can do better. Self-play may circle around it; the mixture of all snapshots gets there more smoothly.${now(e)}${isSmall(e) ? ' The scale is logarithmic: each labelled line is ten times the one below.' : ''}`}>
      <${Chart} name=${'NashConv of ' + gameName(e.game)} height=${270} zero log=${isSmall(e)} x=${e.x} pick=${toStep} format=${v => (v >= 1 || v === 0 ? fixed(v, 2) : number(v))}
        series=${[{ name: 'newest snapshot', values: e.latest, points: true }, { name: 'mixture of snapshots', values: e.mixture, points: true }]}/>
    <//>`)}
    ${others.series.length > 0 && html`<${Card} title="Against others" wide note="Mean payoff of the newest snapshot in evaluation matches, −1 (always loses) to 1 (always wins). Rising lines are progress.">
      <${Chart} name="Results against others" zero x=${others.x} series=${others.series} pick=${toStep} format=${v => signed(v, 3)}/>
    <//>`}
    <div class="cards">
      ${columns.filter(c => c.series.length).map(c => html`<${Card} key=${c.title} title=${c.title} aside=${html`<span class="muted">${c.unit}</span>`} note=${c.note}>
        <${Chart} name=${c.title} x=${x} series=${c.series} zero=${c.zero} format=${c.format ?? number} pick=${toStep}/>
      <//>`)}
    </div>`;
}

export function Learning({ query }) {
  const asked = useData('/api/series', { points: query.points ?? 200, from: query.from, to: query.to }, 5000);
  const steps = useData('/api/steps', { limit: 1 }, 5000);
  const last = steps.data?.steps[0]?.step;
  const choose = name => v => go(link('learning', { ...query, [name]: v }), true);
  const games = Object.keys(asked.data?.games ?? {});
  return html`
    <${Head} title="Learning">One step takes a batch of finished matches and changes the weights a little. Points are averages over stretches of steps; click one (or press Enter on it) to see its matches.<//>
    <div class="choices">
      ${games.length > 0 && html`<${Choice} label="Game" value=${query.game} onChange=${choose('game')} options=${[['', 'all games'], ...games.map(g => [g, g.replaceAll('_', ' ')])]}/>`}
      <${Choice} label="Steps" value=${query.from} onChange=${choose('from')}
        options=${[['', 'all'], ...[100, 500, 2000].filter(n => last > n).map(n => [String(last - n), `since step ${count(last - n)}`]),
          ...(query.from && ![100, 500, 2000].some(n => String(last - n) === query.from) ? [[query.from, `since step ${count(Number(query.from))}`]] : [])]}/>
      <${Choice} label="Detail" value=${query.points ?? '200'} onChange=${choose('points')} options=${[['50', 'smooth (50 points)'], ['200', '200 points'], ['1000', 'fine (1000 points)']]}/>
    </div>
    <${Asked} of=${asked}>${data => html`<${Charts} data=${data} game=${query.game}/>`}<//>`;
}
