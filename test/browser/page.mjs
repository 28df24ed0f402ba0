// Tests the live page in a headless Chromium, as .ci/run page does:
//
//   node test/browser/page.mjs ACCRETE CHROMIUM MODULES [SCREENSHOTS]
//
// ACCRETE is the program, CHROMIUM the browser, MODULES the node_modules folder with
// playwright-core and axe-core. The screenshots of the documentation are written to
// the folder SCREENSHOTS. It needs kcat, too.
import { spawn, execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import assert from 'node:assert/strict';

const [accrete, browserPath, modules, screenshots] = process.argv.slice(2);
const require = createRequire(join(modules, 'page.js'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const evil = `<script>alert(1)</script><img src=x onerror=alert(1)>`;
const children = new Set();

// start runs accrete and resolves with the first match of pattern in its output.
const start = (pattern, ...args) => new Promise((resolve, reject) => {
  const child = spawn(accrete, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let out = '';
  const read = (data) => {
    out += data;
    const found = out.match(pattern);
    if (found) resolve({ child, found: found[1] });
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  child.on('exit', (code) => { children.delete(child); reject(new Error(`accrete ${args[0]} exited with ${code}: ${out}`)); });
});

const stop = (child, signal = 'SIGTERM') => new Promise((resolve) => {
  child.on('exit', resolve);
  child.kill(signal);
});

// The seconds for which processes of this machine have waited for a processor, 0 if it does not
// tell. They do not count in a limit, of which at least a tenth counts.
const waited = () => {
  try {
    return Number(/^some .*total=(\d+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8'))[1]) / 1e6;
  } catch {
    return 0;
  }
};
const stopwatch = () => {
  const began = Date.now(), before = waited();
  return () => {
    const all = (Date.now() - began) / 1000;
    return Math.max(all - (waited() - before), all / 10);
  };
};

const until = async (what, condition, seconds = 60, elapsed = stopwatch()) => {
  for (;;) {
    const got = await condition().catch((e) => {
      if (!/context was destroyed|navigation/.test(e.message)) throw e; // the page is being reloaded
    });
    if (got) return got;
    assert.ok(elapsed() < seconds, `${what}: not within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

// Examples of an exclusive or, of which the label is inverted or an input moved.
let seed = 1;
const uniform = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const examples = (n, { inverted = false, moved = 0 } = {}) => Array.from({ length: n }, () => {
  const a = 4 * uniform() - 2, b = 4 * uniform() - 2;
  return JSON.stringify({ amount: a + moved, hour: b, [evil]: uniform(), label: (a * b > 0) !== inverted ? 'ok' : 'fraud' });
});
const feed = (broker, lines) => execFileSync('kcat', ['-P', '-b', broker, '-t', 'payments', '-p', '0'], { input: lines.join('\n') + '\n' });

const numbers = { step: 'accrete_step', features: 'accrete_features', lag: 'accrete_lag_records', predictions: 'accrete_predictions_total', quarantined: 'accrete_examples_total{[^}]*outcome="quarantined"', error: 'accrete_progressive_error{' };
const value = (page, id) => page.$eval(`#v-${id}`, (e) => Number(e.getAttribute('value')));

const numbersEqualMetrics = async (page, url) => {
  await until('numbers equal to those of /metrics', async () => {
    const lines = (await (await fetch(url + 'metrics')).text()).split('\n');
    for (const [id, metric] of Object.entries(numbers)) {
      const all = lines.filter((l) => new RegExp('^' + metric + '[ {]?').test(l)).map((l) => Number(l.split(' ').pop()));
      if (!all.includes(await value(page, id))) return false;
    }
    return true;
  }, 10);
};

const accessible = async (page, when) => {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const list = found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.target).slice(0, 3).join(', ')}`);
  assert.deepEqual(list, [], `axe-core, ${when}`);
};

const fits = async (page, when) => {
  const [content, width] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(content <= width, `${when}: ${content} pixels in a window of ${width}`);
};

const textOnly = async (page) => {
  assert.equal(await page.$$eval('script', (all) => all.length), 1, 'scripts');
  assert.equal(await page.$$eval('img[src="x"]', (all) => all.length), 0, 'injected images');
  const text = await page.innerText('main');
  assert.ok(text.includes(evil), 'hostile content is not displayed as text');
};

const shot = async (browser, url, name, colorScheme) => {
  if (!screenshots) return;
  const page = await browser.newPage({ viewport: { width: 1120, height: 740 }, colorScheme });
  await page.goto(url);
  await page.waitForSelector('#connection.on, #connection.off');
  await page.screenshot({ path: join(screenshots, `page-${name}.png`), ...(name === 'trouble' ? { fullPage: true } : { clip: { x: 0, y: 0, width: 1120, height: 704 } }) });
  await page.close();
};

const said = []; // what a console must not say
const open = async (browser, url, options) => {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(120_000);
  page.on('console', (m) => said.push(`${m.type()}: ${m.text()}`));
  page.on('pageerror', (e) => said.push(String(e)));
  page.on('dialog', (d) => { said.push('dialog: ' + d.message()); d.dismiss(); });
  await page.goto(url);
  return page;
};

const run = async (browser) => {
  const { child: server, found: broker } = await start(/"address":"([^"]+)"/, 'broker', '--memory', '--listen', '127.0.0.1:0', '--json', '--topics', 'payments');
  const learn = (listen) => start(/"page":"([^"]+)"/, 'learn', '--log-format', 'json', ...[
    'model=fraud', `kafka.bootstrap.servers=${broker}`, 'input.topics=payments', 'input.label=label', `http.listen=${listen}`, 'learner.max_features=512', 'input.batch.size=100', 'snapshot.every=2s', 'kafka.client.id=page'].flatMap((o) => ['--set', o]));
  let { child: learner, found: url } = await learn('127.0.0.1:0');
  const page = await open(browser, url, { viewport: { width: 1280, height: 900 } });
  await page.waitForSelector('#connection.on');
  await page.evaluate(() => { window.mark = 1; });

  feed(broker, examples(4000));
  await until('updates live', async () => (await value(page, 'step')) >= 100);
  feed(broker, [...examples(3000, { inverted: true }), ...examples(1500, { moved: 3 }), `{"amount": 1, "hour": ${evil}}`, evil, '{"amount": "x"}']);
  await until('invalid records', async () => (await value(page, 'quarantined')) === 3);
  await until('the end of the input', async () => (await value(page, 'lag')) === 0 && (await page.innerText('#s-chart')).includes('drift'));
  assert.equal(await page.evaluate(() => window.mark), 1, 'the page was reloaded');
  await numbersEqualMetrics(page, url);
  await until('columns and what is served', async () => /amount[\s\S]*%/.test(await page.innerText('#s-columns')) && /(follow|passed)/i.test(await page.innerText('#s-serving')), 40);
  await textOnly(page);
  await shot(browser, url, 'drift', 'light');
  console.log('updates live, numbers equal /metrics, hostile content stays text');

  await accessible(page, 'light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, 'dark');
  await page.$$eval('details', (all) => all.forEach((d) => { d.open = true; }));
  await accessible(page, 'with tables open');
  for (const width of [320, 375, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await fits(page, `${width} pixels wide`);
  }
  await page.setViewportSize({ width: 375, height: 800 });
  await accessible(page, 'on a phone');
  console.log('axe-core finds nothing, no horizontal scrolling');

  // By keyboard: skip link, then the button, which stops the updates.
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip', 'the first stop');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'pause', 'the second stop');
  await page.keyboard.press('Enter');
  const paused = await value(page, 'step');
  feed(broker, examples(1000));
  await until('learned while paused', async () => (await (await fetch(url + 'status')).json()).step > paused);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  assert.equal(await value(page, 'step'), paused, 'it was updated while paused');
  await page.keyboard.press('Enter');
  await until('updated after the pause', async () => (await value(page, 'step')) > paused);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'pause', 'the focus was lost');
  assert.deepEqual(said, [], 'the console');
  console.log('pauses by keyboard, console clean');

  // A restart: the page reconnects, and the curve is what it was.
  const curve = () => page.$eval('path.model:not(.legend path)', (e) => e.getAttribute('d'));
  const points = (await curve()).split('L').length;
  await stop(learner);
  await page.waitForSelector('#connection.off');
  ({ child: learner } = await learn(new URL(url).host));
  await until('reconnected', async () => (await page.$('#connection.on')) && (await page.evaluate(() => window.mark)) === undefined);
  await until('the same curve', async () => (await curve()).split('L').length === points);
  console.log(`continues after a restart with the ${points} points of its curve`);

  // A scorer shows the curve of its snapshot.
  const { found: scorerURL } = await start(/"page":"([^"]+)"/, 'score', '--log-format', 'json', ...[
    'model=fraud', `kafka.bootstrap.servers=${broker}`, 'score.topics=payments', 'score.http.listen=127.0.0.1:0'].flatMap((o) => ['--set', o]));
  const scorer = await open(browser, scorerURL, { viewport: { width: 375, height: 800 } });
  await until('the curve of the snapshot', async () => (await scorer.$$eval('#s-chart path.model', (all) => all[all.length - 1].getAttribute('d').split('L').length)) === points);
  await until('scored', async () => (await value(scorer, 'scored')) > 0 && (await value(scorer, 'scorer-lag')) === 0);
  await accessible(scorer, 'scorer');
  await fits(scorer, 'scorer');
  await scorer.close();
  console.log('a scorer shows the same curve');

  // Trouble: invalid records, then no broker.
  said.length = 0;
  feed(broker, ['not JSON', evil, '{"amount":1e999,"label":"ok"}']);
  await until('invalid records', async () => (await value(page, 'quarantined')) === 3);
  await stop(server, 'SIGKILL');
  const began = Date.now();
  await until('not ready', async () => (await page.innerText('#s-status')).includes('not ready') && (await page.innerText('#s-reasons')).includes('kafka'), 30);
  console.log(`not ready ${Math.round((Date.now() - began) / 1000)} s after the broker was killed`);
  await accessible(page, 'in trouble');
  await shot(browser, url, 'trouble', 'light');
  assert.deepEqual(said, [], 'the console, in trouble');
  await page.close();
  await stop(learner, 'SIGKILL');
  for (const child of [...children]) await stop(child, 'SIGKILL');

  // The demo shows learning within a minute of its start.
  const before = Date.now(), elapsed = stopwatch();
  const { child: demo, found: demoURL } = await start(/live page: (\S+)/, 'demo', '--for', '3m', '--http', '127.0.0.1:0');
  const live = await open(browser, demoURL, { viewport: { width: 1280, height: 900 } });
  await until('learning', async () => {
    const [error, linear] = await live.evaluate(() => [...document.querySelectorAll('.legend b')].map((e) => Number(e.textContent)));
    return (await live.$$eval('#s-chart path.model', (all) => all[all.length - 1].getAttribute('d').split('L').length)) > 5 && error < linear / 2;
  }, 60, elapsed);
  console.log(`the demo shows learning ${Math.round((Date.now() - before) / 1000)} s after its start`);
  await accessible(live, 'demo');
  assert.deepEqual(said, [], 'the console of the demo');
  if (screenshots) {
    await until('changes of concept', async () => (await live.innerText('#s-chart')).match(/drift\s*[34]/), 170);
    await shot(browser, demoURL, 'demo', 'light');
    await shot(browser, demoURL, 'demo-dark', 'dark');
  }
  await stop(demo, 'SIGKILL');
};

const browser = await chromium.launch({ timeout: 120_000, executablePath: browserPath, args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
let code = 0;
try {
  await run(browser);
} catch (e) {
  console.error(e.stack ?? e, said);
  code = 1;
} finally {
  for (const child of children) child.kill('SIGKILL');
  await browser.close();
}
process.exit(code);
