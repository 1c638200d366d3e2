// node screenshots.mjs OUT RUN [RUN2]: see screenshots.sh.
import { readFileSync } from 'node:fs';

const { chromium } = await import(process.env.PLAYWRIGHT);
const [out, ...runs] = process.argv.slice(2);
const cards = runs.map(r => JSON.parse(readFileSync(r + '/serve.json')));
const origin = c => `http://${c.host}:${c.port}`;
const newest = async (c, query) => (await (await fetch(`${origin(c)}/api/matches?limit=200&${query}`)).json()).matches;

// A match with as many turns as there are, so that there is something to see.
const long = async (c, query) => (await newest(c, query)).sort((a, b) => b.turns - a.turns)[0].id;

async function play(page) {
  await page.click('#play button');
  for (let i = 0; i < 2; i++) {
    await page.waitForSelector('.words button:not([disabled]), .told .verdict');
    const free = page.locator('.words button:not([disabled])');
    if (await free.count()) await free.nth(Math.min(i ? 1 : 4, (await free.count()) - 1)).click();
    await page.waitForTimeout(700);
  }
  await page.waitForSelector('.words button:not([disabled]), .told .verdict');
}

// name, which run, view, and how it is taken
const SHOTS = [
  ['overview', 0, '/overview', { wait: 25000, full: true }],
  ['live', 1, '/live?game=tic_tac_toe&pace=700', { for: '.saying:nth-child(4)' }],
  ['matches', 0, '/matches', {}],
  ['match', 0, async c => '/match/' + (await long(c, 'kind=train')) + '?turn=1', { full: true }],
  ['learning', 0, '/learning', { full: true }],
  ['policies', 0, '/policies', {}],
  ['policy', 1, '/policy/200', { full: true }],
  ['ratings', 1, '/ratings', { wait: 4000, full: true }],
  ['games', 1, '/games', {}],
  ['play', 1, '/games/tic_tac_toe', { act: play }],
  ['sql', 0, '/sql?q=' + encodeURIComponent('SELECT step, samples, loss, entropy, invalid, reward_0, baseline_0 FROM v_steps ORDER BY step DESC LIMIT 50'), { act: p => p.click('button:text-is("Ask")') }],
  ['health', 0, '/health', {}],
  ['overview-dark', 0, '/overview', { dark: true, wait: 15000 }],
  ['match-dark', 1, async c => '/match/' + (await long(c, 'game=tic_tac_toe')) + '?turn=4', { dark: true }],
  ['overview-phone', 0, '/overview', { phone: true, wait: 8000 }],
  ['match-phone', 0, async c => '/match/' + (await long(c, 'kind=train')), { phone: true, dark: true }],
];

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
for (const [name, which, view, how] of SHOTS) {
  const c = cards[Math.min(which, cards.length - 1)];
  const context = await browser.newContext({
    viewport: how.phone ? { width: 390, height: 844 } : { width: 1280, height: 820 }, colorScheme: how.dark ? 'dark' : 'light', isMobile: Boolean(how.phone),
    hasTouch: Boolean(how.phone), reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(90000);
  await page.goto(`${origin(c)}/#token=${c.token}&${typeof view === 'function' ? await view(c) : view}`);
  await page.waitForFunction(() => document.querySelector('main h1') && !document.querySelector('[aria-busy=true]'));
  if (how.for) await page.waitForSelector(how.for);
  if (how.act) await how.act(page);
  await page.waitForTimeout(how.wait ?? 2500);
  await page.screenshot({ path: `${out}/${name}.png`, fullPage: Boolean(how.full) });
  console.log(name);
  await context.close();
}
await browser.close();
