// The web page as people use it: node lib_page.mjs FOLDER, with AGON, CHROMIUM and PLAYWRIGHT set (page.sh).
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const { chromium } = await import(process.env.PLAYWRIGHT);
const { AGON, CHROMIUM } = process.env, work = process.argv[2], run = work + '/run';
const WAIT = { timeout: 20000 };
let failed = 0;

function check(name, good, detail = '') {
  console.log((good ? 'ok - ' : 'not ok - ') + name);
  if (!good) {
    failed++;
    console.log('# ' + String(typeof detail === 'string' ? detail : JSON.stringify(detail)).slice(0, 1500));
  }
}

// A group of checks; what it throws is one failure.
async function group(name, f) {
  try {
    await f();
  } catch (e) {
    check(name, false, e.stack);
  }
}

const sleep = ms => new Promise(r => setTimeout(r, ms));

async function until(f, ms = 20000) {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(100)) {
    const v = await f();
    if (v) return v;
  }
  return null;
}

// ---- the run: a server and a learner of this test's own ----

const children = new Set();
process.on('exit', () => children.forEach(c => c.kill('SIGKILL'))); // whatever went wrong

function start(...words) {
  const log = openSync(work + '/log', 'a');
  const child = spawn(AGON, words, { stdio: ['ignore', log, log] });
  children.add(child);
  child.on('exit', () => children.delete(child));
  return child;
}

async function serve() {
  const child = start('serve', '--run', run);
  const card = await until(() => {
    try {
      const c = JSON.parse(readFileSync(run + '/serve.json'));
      return c.pid === child.pid && c;
    } catch {
      return null;
    }
  });
  if (!card) throw new Error('the server does not start: ' + readFileSync(work + '/log'));
  return { child, ...card, base: `http://${card.host}:${card.port}` };
}

const end = child => new Promise(r => {
  if (child.exitCode !== null || child.signalCode !== null) return r();
  child.on('exit', r);
  child.kill('SIGKILL');
});

function freePort() {
  return new Promise(r => {
    const s = createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => r(port));
    });
  });
}

const port = await freePort();
const settings = { 'serve.port': port, 'learner.warmup': 8, 'learner.steps': 1000000, 'snapshots.keep': 100000, 'schedule.older': 0.3, 'schedule.scripted': 0.2,
  games: 'kuhn_poker:2,tic_tac_toe:1', 'model.context': 128, 'prompt.template': '{game} {view}', 'prompt.answer': 'whole' };
const sets = Object.entries(settings).flatMap(([k, v]) => ['--set', `${k}=${v}`]);
execFileSync(AGON, ['serve', 'tests/int/tiny.yaml', '--run', run, ...sets, '--check'], { stdio: 'pipe' });
const making = start('serve', 'tests/int/tiny.yaml', '--run', run, ...sets);
await until(() => existsSync(run + '/serve.json'));
await end(making);
let server = await serve(), learner = start('learn', '--run', run);
const api = async path => (await fetch(server.base + path)).json();
await until(async () => (await api('/api/run')).step >= 12, 60000);
// Evaluations as `agon train` would have them made, so that the charts of play have points.
for (const words of [['--policy', 'latest'], ['--policy', 'latest', '--against', 'random', '--matches', '20']]) {
  const out = execFileSync(AGON, ['eval', '--run', run, '--game', 'kuhn_poker', ...words, '--json'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  for (const line of out.trim().split('\n')) {
    const result = JSON.parse(line);
    await fetch(server.base + '/api/evals', { method: 'POST', headers: { Authorization: 'Bearer ' + server.token },
      body: JSON.stringify({ step: result.step, policy: result.policy_id, result }) });
  }
}

// ---- the browser ----

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const troubles = [];
let quiet = false; // the server is gone on purpose

async function open(options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', e => console.error('policy violated: ' + e.violatedDirective + ' ' + e.blockedURI));
  });
  page.on('console', m => {
    if (m.type() === 'error' && !(quiet && /Failed to load resource|ERR_/.test(m.text())) && !/503 \(/.test(m.text()))
      troubles.push(m.text());
  });
  page.on('pageerror', e => troubles.push(e.stack));
  page.setDefaultTimeout(WAIT.timeout);
  return page;
}

const to = (page, view) => page.evaluate(v => { location.hash = v; }, view);
const seen = (page, text) => page.waitForFunction(t => document.body.innerText.includes(t), text, WAIT);
const wide = page => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

// View, its heading, and something that is there only when its data is.
const VIEWS = [
  ['/overview', 'Overview', '.stat-value'], ['/live', 'Live match', '.saying .token'], ['/matches', 'Matches', '.matches tbody tr a'],
  ['/matches?reason=invalid&kind=train', 'Matches', '.choices'], ['/matches?step=10', 'Matches', '.matches tbody tr'],
  ['/match/1', 'Match #1', '.playing, .grid'], ['/learning', 'Learning', '.plot canvas'], ['/policies', 'Policies', 'tbody .player'],
  ['/policy/2', 'step 0', '.lineage, .nothing'], ['/ratings', 'Ratings', '.matrix td'], ['/games', 'Games', '.badge'],
  ['/games/kuhn_poker', 'Kuhn poker', '#play'], ['/sql', 'SQL', '.examples'], ['/health', 'Health', '.fine'],
];

const page = await open();

await group('the token', async () => {
  await page.goto(`${server.base}/#token=${server.token}`);
  await page.waitForSelector('.stat-value');
  const kept = await page.evaluate(() => [location.href, sessionStorage.getItem('token')]);
  check('the token of the link is kept and taken out of the address', !kept[0].includes('token') && kept[1] === server.token, kept);
});

await group('views', async () => {
  const bad = [];
  for (const [view, title, content] of VIEWS) {
    await to(page, view);
    try {
      await page.waitForFunction(([t, c]) => document.querySelector('main h1')?.textContent.includes(t) && document.querySelector('main ' + c), [title, content], WAIT);
    } catch {
      bad.push(view + ': ' + (await page.evaluate(() => document.querySelector('main').innerText)).slice(0, 300));
    }
    if ((await wide(page)) > 0) bad.push(view + ' is too wide');
  }
  check('every view shows what it is for', !bad.length, bad);
  check('without an error or a violation of the content policy', !troubles.length, troubles);
  await to(page, '/nonsense');
  await seen(page, 'There is no such view');
  await to(page, '/match/999999999');
  await seen(page, 'there is no such match');
  check('what is not there is said', true);
  troubles.length = 0; // the browser tells of the 404
});

await group('live', async () => {
  await to(page, '/overview');
  await page.waitForSelector('.feed a');
  const text = () => page.evaluate(() => document.querySelector('.feed a').textContent + document.querySelector('.state').textContent);
  const before = await text();
  check('the overview goes on by itself', await until(async () => (await text()) !== before));
});

await group('keys', async () => {
  const id = (await api('/api/matches?kind=train&limit=50')).matches.find(m => m.turns > 1).id;
  await to(page, '/match/' + id);
  await page.waitForSelector('.steps');
  const at = () => page.evaluate(() => document.querySelector('.steps [aria-current]').textContent + '|' + document.querySelector('main').innerText.match(/turn \d+ of|the end/)[0]);
  const shown = [await at()];
  for (const key of ['ArrowRight', 'End', 'Home']) {
    await page.keyboard.press(key);
    await sleep(150);
    shown.push(await at());
  }
  check('arrows, Home and End step through a match', shown[0].endsWith('turn 1 of') && shown[1].endsWith('turn 2 of') &&
    shown[2].endsWith('the end') && shown[3] === shown[0], shown);
  await page.keyboard.press('End');
  await seen(page, 'the end');
  check('the turn stands in the address', (await page.evaluate(() => location.hash)).includes('turn='));
  await page.keyboard.press('n');
  await page.waitForFunction(n => document.querySelector('h1')?.textContent.includes(n), String(BigInt(id) + 1n));
  check('n goes to the next match', true);
  await page.keyboard.press('?');
  check('? shows the keys', await page.evaluate(() => document.querySelector('dialog').open));
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !document.querySelector('dialog').open);
  await page.keyboard.press('g');
  await page.keyboard.press('e');
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Learning');
  check('g and a letter lead to a view, whose heading has the focus', await until(() => page.evaluate(() => document.activeElement.tagName === 'H1'), 5000));
  await page.waitForSelector('.plot canvas');
  await page.locator('.plot').last().focus();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('step=') && document.querySelector('.matches tbody tr'));
  check('Enter on a chart shows the matches of that step', true);
  await page.goto(server.base + '/#/overview');
  await page.reload();
  await page.waitForSelector('.stat-value');
  await page.keyboard.press('Tab');
  const skip = await page.evaluate(() => [document.activeElement.className, getComputedStyle(document.activeElement).outlineStyle, document.activeElement.getBoundingClientRect().left]);
  check('the first Tab is a visible link to the content', skip[0] === 'skip' && skip[1] !== 'none' && skip[2] >= 0, skip);
});

await group('several games', async () => {
  await page.route('**/api/series*', async route => {
    const answer = await route.fetch(), data = await answer.json();
    data.games = { kuhn_poker: { reward_0: data.steps.step.map(() => 0.25), reward_1: data.steps.step.map(() => -0.25) }, 'nim(piles=2)': {} };
    await route.fulfill({ response: answer, json: data });
  });
  await to(page, '/learning');
  await page.waitForSelector('main select >> nth=0');
  await page.getByLabel('Game').selectOption('kuhn_poker');
  await seen(page, 'Reward by seat: kuhn poker');
  const titles = await page.evaluate(() => document.querySelector('main').innerText);
  check('one game\'s charts can be chosen, the others stay those of the run', (await page.evaluate(() => location.hash)).includes('game=kuhn_poker') &&
    titles.includes('Entropy') && !titles.includes('Entropy: kuhn'), titles.slice(0, 500));
  await page.getByLabel('Game').selectOption('');
  await page.waitForFunction(() => !document.querySelector('main').innerText.includes('Reward by seat: '));
  await page.unroute('**/api/series*');
});

await group('play', async () => {
  await to(page, '/games/kuhn_poker?against=random');
  await page.waitForSelector('#play button');
  await page.click('#play button');
  let moves = 0;
  for (; moves < 10; moves++) {
    const state = await page.waitForFunction(() => (document.querySelector('.told .verdict') ? 'over' : document.querySelector('.words button:not([disabled])') ? 'turn' : null), null, WAIT);
    if ((await state.jsonValue()) === 'over') break;
    await page.click('.words button:not([disabled])');
    await sleep(100);
  }
  const verdict = await page.textContent('.told .verdict');
  check('a game is played to its end', moves > 0 && /You win|You lose|A draw/.test(verdict), [moves, verdict]);
  await page.click('button:text-is("Play again")');
  await page.waitForSelector('.words button, .told .verdict');
  check('and begun again', true);
});

await group('SQL', async () => {
  await to(page, '/sql');
  await page.fill('textarea', 'SELECT 40 + 2 AS answer, NULL AS gap');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.rows td');
  check('SQL is answered', (await page.textContent('.rows tbody')).includes('42'));
  await page.fill('textarea', 'DELETE FROM match');
  await page.click('main button:text-is("Ask")');
  await page.waitForSelector('.failure');
  check('and what would change something is refused', /read|SELECT/i.test(await page.textContent('.failure')), await page.textContent('.failure'));
  troubles.splice(0, troubles.length, ...troubles.filter(t => !t.includes('400 (')));
});

await group('phone', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const phone = await open({ viewport: { width: 390, height: 844 }, colorScheme, hasTouch: true, isMobile: true });
    await phone.goto(`${server.base}/#token=${server.token}`);
    const bad = [];
    for (const [view, title] of VIEWS) {
      await to(phone, view);
      await phone.waitForFunction(t => document.querySelector('main h1')?.textContent.includes(t) && !document.querySelector('main > [aria-busy]'), title, WAIT);
      await sleep(80);
      if ((await wide(phone)) > 0) bad.push([view, await wide(phone)]);
    }
    check(`no view is wider than a phone, ${colorScheme}`, !bad.length, bad);
    const paint = await phone.evaluate(() => [document.body, document.querySelector('h1')].map(e => getComputedStyle(e)).map((s, i) => (i ? s.color : s.backgroundColor).match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)));
    check(`${colorScheme} is ${colorScheme}`, (colorScheme === 'dark') === (paint[0] < 384) && Math.abs(paint[0] - paint[1]) > 350, paint);
    await phone.context().close();
  }
});

// ---- the server dies; what players said is replaced by something nasty meanwhile ----

const HOSTILE = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2"> \u202Eevil\u2066 \u200B\u061C end';

await group('the server goes and comes', async () => {
  await to(page, '/match/5');
  await page.waitForSelector('.turn');
  quiet = true;
  await end(learner);
  await end(server.child);
  await page.waitForSelector('.banner');
  check('the page says that the server is gone', (await page.textContent('.banner')).includes('server is gone'));
  check('and keeps what it has', await page.isVisible('.turn'));
  execFileSync('sqlite3', [run + '/run.db', `UPDATE turn SET reply = '${HOSTILE.replaceAll("'", "''")}' || replace(hex(zeroblob(100000)), '00', 'long'), word = '${HOSTILE}' WHERE match_id = 5 AND turn_no = 0;
    UPDATE match SET detail = '${HOSTILE}' WHERE id = 5; UPDATE prompt SET text = '${HOSTILE}' WHERE id = (SELECT prompt_id FROM turn WHERE match_id = 5 AND turn_no = 0);`]);
  const before = server.base;
  server = await serve();
  check('the new server has the old address', server.base === before, [server.base, before]);
  await page.waitForSelector('.banner', { state: 'detached', timeout: 20000 });
  quiet = false;
  check('the page goes on by itself', true);
  await seen(page, '<script>window.hacked');
  check('what it shows is new', true);
});

await group('hostile text', async () => {
  const v = await page.evaluate(() => ({
    hacked: window.hacked, markup: document.querySelectorAll('main script, main img').length, raw: /[\u202a-\u202e\u2066-\u2069\u200b\u061c]/.test(document.querySelector('main').textContent),
    shown: document.querySelector('main').innerText.includes('‹U+202E›'), length: document.querySelector('main').textContent.length, more: Boolean(document.querySelector('.said .more')), wide: document.documentElement.scrollWidth - innerWidth,
  }));
  check('hostile text is text', v.hacked === undefined && v.markup === 0, v);
  check('what reorders or hides text is made visible', !v.raw && v.shown, v);
  check('a very long reply is cut until it is asked for', v.more && v.length < 20000 && v.wide <= 0, v);
  await page.click('.said .more');
  const all = await page.evaluate(() => [document.querySelector('main').textContent.length, document.documentElement.scrollWidth - innerWidth]);
  check('and then there, without breaking the page', all[0] > 350000 && all[1] <= 0, all);
  await to(page, '/matches');
  await page.waitForSelector('.matches tbody tr');
  check('nothing went wrong in the browser', !troubles.length, troubles);
});

await browser.close();
for (const child of [...children]) await end(child);
process.exit(failed ? 1 : 0);
