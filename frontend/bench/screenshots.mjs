/* Takes the pictures that README and the guides show, from real runs on a server of its own: `make screenshots`. */
import { mkdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { ask, launch, openPage, serve, startRun, until } from './serve.mjs';
import { terminal } from './terminal.mjs';

const [bin, home, sample, folder] = process.argv.slice(2);
const largest = 300_000;

/** The runs that the pictures show: those of the sample with one worker and with two, and one that waits. */
async function prepare(url) {
  let first;
  while (!first) {
    first = (await ask(url, '/apis/argosy/v1/runs?page_size=1')).runs?.[0];
    if (!first) await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  const run = await until(url, first.id, settled);
  const values = (workers) => run.parameters.map((p) => (p.name === 'workers' ? { ...p, value: workers } : p));
  const compared = [run.id];
  for (const workers of ['1', '2', '1']) {
    const body = {
      name: `${run.pipeline.name} ${workers}`,
      version_id: run.pipeline.version_id,
      parameters: values(workers),
    };
    const { id } = (await ask(url, '/apis/argosy/v1/runs', body)).run;
    await until(url, id, settled);
    compared.push(id);
  }
  const env = [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'registry-token', key: 'token' } } }];
  const waiting = await startRun(url, 'evaluate', [
    { name: 'evaluate', container: { image: 'host', command: ['true'], env } },
  ]);
  await until(url, waiting, (one) => one.waiting);
  const chosen = `runs=${compared.join('&runs=')}`;
  const pages = {
    run: `/runs/${run.id}`,
    metrics: `/runs/${run.id}?tab=metrics`,
    job: `/runs/${run.id}?tab=job`,
    runs: '/runs',
    compare: `/compare?${chosen}`,
    scaling: `/scaling?${chosen}`,
    components: '/components',
  };
  return { pages, waiting };
}

const settled = (run) => run.status === 'Succeeded' && (run.metrics ?? []).length > 0;

/** What a page shows when all of it is there. */
const shown = {
  run: (page) =>
    page
      .getByRole('region', { name: /^Log of / })
      .getByText('images/sec')
      .first(),
  metrics: (page) => page.getByRole('img', { name: /images\/sec/ }).first(),
  job: (page) => page.getByRole('table').first(),
  scaling: (page) => page.getByRole('img', { name: /^images\/sec over / }),
  components: (page) => page.getByRole('img', { name: 'A line in each colour' }),
};

/** Where the picture of a page begins that is longer than the window. */
const begins = { components: (page) => page.getByRole('region', { name: 'Buttons and links' }) };

async function picture(browser, url, name, path, scheme) {
  const page = await openPage(browser, url, { scheme });
  page.setDefaultTimeout(120_000);
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.mantine-Skeleton-root:not([data-example] *)').first().waitFor({ state: 'detached' });
  await shown[name]?.(page).waitFor();
  await begins[name]?.(page).evaluate((part) => part.scrollIntoView());
  await save(page, name, scheme);
}

/** The terminal of the one who started the sample. The folders of the machine that takes the picture are left out. */
async function terminalPicture(browser, lines, scheme) {
  const places = [
    [resolve(home), '~/.local/share/argosy'],
    [resolve(sample, '../..'), '~/argosy'],
  ];
  const named = lines.map((line) => places.reduce((text, [from, to]) => text.replaceAll(from, to), line));
  const page = await browser.newPage({ viewport: { width: 1040, height: 720 } });
  await page.setContent(terminal(`bin/argosy up --demo samples/${basename(sample)}`, named, scheme));
  await save(page, 'terminal', scheme);
}

async function save(page, name, scheme) {
  await page.evaluate(() => document.fonts.ready);
  const file = join(folder, `${name}${scheme === 'dark' ? '-dark' : ''}.png`);
  await page.screenshot({ path: file, animations: 'disabled' });
  await page.context().close();
  const { size } = statSync(file);
  process.stdout.write(`${file}: ${Math.round(size / 1000)} kB\n`);
  if (size > largest) throw new Error(`${file} has ${size} bytes; pictures have at most ${largest}`);
}

mkdirSync(folder, { recursive: true });
const server = await serve(bin, home, '--demo', sample);
const browser = await launch();
try {
  const { pages, waiting } = await prepare(server.url);
  const printed = [...server.lines];
  for (const scheme of ['light', 'dark']) {
    for (const [name, path] of Object.entries(pages)) await picture(browser, server.url, name, path, scheme);
    await terminalPicture(browser, printed, scheme);
  }
  await ask(server.url, `/apis/v1beta1/runs/${waiting}/terminate`, {});
} finally {
  await browser.close();
  await server.stop();
}
