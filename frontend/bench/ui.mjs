/*
 * How fast the UI is with much to show, in Chromium on a real server: `make bench-ui` fills a store and runs this.
 * Every figure is the median of five visits, each in a new context of the browser with nothing in its cache.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ask, launch, openPage, serve, startRun, succeeded, until } from './serve.mjs';

const [bin, home, out] = process.argv.slice(2);
const visits = 5;
const timeout = 300_000;
const steps = 2000;
const lines = 1_000_000;
const minutes = Number(process.env.HEAP_MINUTES ?? 10);

/** What a browser loads before anything is shown, in bytes: index.html and what it names. */
function shell() {
  const dist = new URL('../dist/', import.meta.url).pathname;
  const html = readFileSync(join(dist, 'index.html'), 'utf8');
  const named = [...html.matchAll(/(?:src|href)="\/?([^"]+\.(?:js|css|svg))"/g)].map((found) => found[1]);
  const files = ['index.html', ...new Set(named)].map((name) => readFileSync(join(dist, name)));
  return files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function measure(browser, url, what, visit) {
  const times = [];
  for (let i = 0; i < visits; i++) {
    const page = await openPage(browser, url);
    page.setDefaultTimeout(timeout);
    const begun = performance.now();
    const { took, from = begun } = (await visit(page)) ?? {};
    times.push(took ?? performance.now() - from);
    await page.context().close();
  }
  process.stderr.write(`${what}: ${times.map(Math.round).join(', ')} ms\n`);
  return { what, median: median(times), least: Math.min(...times), most: Math.max(...times), unit: 'ms' };
}

/** Runs with 2,000 steps, with a log of a million lines, and one that goes on, made by the cluster. */
async function prepare(url) {
  const graph = await startRun(url, 'bench graph', [
    { name: 'main', dag: { tasks: [{ name: 'step', template: 'pause', withSequence: { count: String(steps - 1) } }] } },
    { name: 'pause', suspend: { duration: '0' } },
  ]);
  // Short lines: what is measured is the page, not how much a container may print at once.
  const command = ['seq', '1', String(lines)];
  const log = await startRun(url, 'bench log', [{ name: 'main', container: { image: 'host', command } }]);
  const talk = 'i=0; while :; do i=$((i+1)); echo "step $i: images/sec: $((700 + i % 50)).5"; sleep 0.2; done';
  const live = await startRun(url, 'bench live', [
    { name: 'main', container: { image: 'host', command: ['sh', '-c', talk] } },
  ]);
  await until(url, graph, succeeded);
  const { nodes } = await until(url, log, succeeded);
  return { graph, log, live, node: nodes.find(({ type }) => type === 'Pod').id };
}

async function figures(browser, url) {
  const { total_size: total } = await ask(url, '/apis/argosy/v1/runs?page_size=1');
  const newest = await ask(url, '/apis/argosy/v1/runs?page_size=200&status=Succeeded&sort_by=created_at%20desc');
  const runs = newest.runs.filter(({ name }) => !name.startsWith('bench ')).slice(0, 50); // without those of earlier times
  const made = await prepare(url);
  const curves = runs.length; // the store is made so that the newest that succeeded have them
  const count = new Intl.NumberFormat('en').format;
  const all = [{ what: 'shell, gzip', median: shell() / 1000, unit: 'kB' }];
  all.push(
    await measure(browser, url, `first list of ${count(total)} runs, until a row can be chosen`, async (page) => {
      await page.addInitScript(chooseFirst);
      await page.goto('/runs', { waitUntil: 'commit' });
      return { took: await page.evaluate(() => globalThis.chosen) };
    }),
    await measure(browser, url, `graph of ${count(steps)} steps, drawn`, async (page) => {
      await page.goto(`/runs/${made.graph}?node=none&opened=all`, { waitUntil: 'commit' });
      await page.locator('.react-flow__node button').first().waitFor();
      await page.getByRole('img', { name: 'Map of the graph' }).waitFor();
    }),
    await measure(browser, url, `log of ${count(lines)} lines, to its end`, (page) => openLog(page, made)),
    await measure(browser, url, 'search in that log, until the count is there', async (page) => {
      await openLog(page, made);
      const begun = performance.now();
      await page.getByRole('textbox', { name: 'Search the log' }).fill('77777');
      await page.getByText(/of 19$/).waitFor();
      return { from: begun };
    }),
    await measure(browser, url, `comparison of ${runs.length} runs`, (page) => openComparison(page, runs)),
    await measure(browser, url, `first curves of ${curves} of these runs, once scrolled to`, async (page) => {
      await openComparison(page, runs);
      const begun = performance.now();
      const first = page.getByRole('figure').filter({ hasText: 'loss_00' });
      await first.scrollIntoViewIfNeeded();
      await first
        .locator('svg path')
        .nth(curves - 1)
        .waitFor({ state: 'attached' });
      return { from: begun };
    }),
    await measure(browser, url, `longest task while the graph of ${count(steps)} steps is panned`, (page) =>
      pan(page, made),
    ),
    await heap(browser, url, made),
  );
  await ask(url, `/apis/v1beta1/runs/${made.live}/terminate`, {});
  return all;
}

async function openComparison(page, runs) {
  const query = new URLSearchParams(runs.map(({ id }) => ['runs', id]));
  await page.goto(`/compare?${query}`, { waitUntil: 'commit' });
  await page
    .getByRole('region', { name: 'All at once' })
    .locator('svg path')
    .nth(runs.length - 1)
    .waitFor({ state: 'attached' });
}

/** Drags the graph to and fro, and gives the longest task of the page meanwhile, in ms; 0: none took 50 ms. */
async function pan(page, { graph }) {
  await page.goto(`/runs/${graph}?node=none&opened=all`, { waitUntil: 'commit' });
  await page.locator('.react-flow__node button').first().waitFor();
  await page.evaluate(() => {
    globalThis.longest = 0;
    new PerformanceObserver((list) => {
      globalThis.longest = Math.max(globalThis.longest, ...list.getEntries().map(({ duration }) => duration));
    }).observe({ entryTypes: ['longtask'] });
  });
  const view = page.locator('.react-flow__viewport');
  const still = await view.getAttribute('style');
  const { x, y, width, height } = await page.locator('.react-flow__pane').boundingBox();
  // Near the upper edge, where no node takes the drag for itself.
  await page.mouse.move(x + width / 2, y + 8);
  await page.mouse.down();
  for (let i = 0; i < 200; i++) {
    const turn = (i / 40) * 2 * Math.PI;
    await page.mouse.move(x + (width / 2) * (1 + 0.8 * Math.sin(turn)), y + (height / 2) * (1 - 0.8 * Math.cos(turn)));
  }
  if ((await view.getAttribute('style')) === still) throw new Error('the graph does not follow the mouse');
  await page.mouse.up();
  return { took: await page.evaluate(() => globalThis.longest) };
}

/** The heap of a page that follows a live run's log, after garbage is collected: what it grows by each minute, after the first. */
async function heap(browser, url, { live }) {
  const page = await openPage(browser, url);
  const isPod = ({ type }) => type === 'Pod';
  const { nodes } = await until(url, live, (run) => run.nodes?.some(isPod));
  await page.goto(`/runs/${live}?node=${nodes.find(isPod).id}&panel=log`);
  await page
    .getByText(/images\/sec/)
    .first()
    .waitFor();
  const devtools = await page.context().newCDPSession(page);
  const sizes = [];
  for (let i = 0; i <= minutes; i++) {
    await new Promise((resolve) => setTimeout(resolve, 60_000));
    await devtools.send('HeapProfiler.collectGarbage');
    sizes.push((await devtools.send('Runtime.getHeapUsage')).usedSize / 1e6);
  }
  await page.context().close();
  const what = `heap of a live run's page after ${minutes} more minutes; the range is that of each minute`;
  process.stderr.write(`${what}: ${sizes.map((size) => size.toFixed(1)).join(', ')} MB\n`);
  return { what, median: sizes.at(-1), least: Math.min(...sizes), most: Math.max(...sizes), unit: 'MB' };
}

/**
 * Runs in the page: chooses the first row once it is drawn, and tells when the page shows that, in ms since the visit
 * began. Playwright looks for elements every half second after its first tries, which is too coarse here.
 */
function chooseFirst() {
  globalThis.chosen = new Promise((resolve) => {
    let pressed = false;
    const look = () => {
      const box = document.querySelector('tbody input[type=checkbox]');
      if (box && !pressed) {
        pressed = true;
        requestAnimationFrame(() => requestAnimationFrame(() => box.click()));
      }
      if (document.querySelector('[aria-label="Chosen runs"]')) resolve(performance.now());
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true });
  });
}

async function openLog(page, { log, node }) {
  await page.addInitScript(awaitEnd);
  await page.goto(`/runs/${log}?node=${node}&panel=log`, { waitUntil: 'commit' });
  return { took: await page.evaluate(() => globalThis.ended) };
}

/** Runs in the page: tells when the end of the log is there, in ms since the visit began, as chooseFirst does. */
function awaitEnd() {
  globalThis.ended = new Promise((resolve) => {
    const look = () => {
      if (document.body?.textContent.includes('1,000,000 lines · End of the log')) resolve(performance.now());
    };
    new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
  });
}

function print(all) {
  process.stdout.write('| what | median | range |\n| --- | --- | --- |\n');
  for (const { what, median: middle, least, most, unit } of all) {
    const range = least === undefined ? '' : `${Math.round(least)} to ${Math.round(most)} ${unit}`;
    process.stdout.write(`| ${what} | ${Math.round(middle)} ${unit} | ${range} |\n`);
  }
}

const server = await serve(bin, home);
const browser = await launch();
try {
  const all = await figures(browser, server.url);
  print(all);
  if (out) writeFileSync(out, `${JSON.stringify(all, null, 2)}\n`);
} finally {
  await browser.close();
  await server.stop();
}
