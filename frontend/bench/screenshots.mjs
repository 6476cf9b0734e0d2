/* Takes the pictures that README and the guides show, from real runs on a server of its own: `make screenshots`. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ask, launch, openPage, serve, startRun, until } from './serve.mjs';

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
  for (const workers of ['1', '2']) {
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
  return { run: `/runs/${run.id}`, runs: '/runs', compare: `/compare?runs=${compared.join('&runs=')}`, waiting };
}

const settled = (run) => run.status === 'Succeeded' && (run.metrics ?? []).length > 0;

async function picture(browser, url, name, path, scheme) {
  const page = await openPage(browser, url, { scheme });
  page.setDefaultTimeout(120_000);
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  if (name === 'run')
    await page
      .getByRole('region', { name: /^Log of / })
      .getByText('images/sec')
      .first()
      .waitFor();
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
  const { waiting, ...pages } = await prepare(server.url);
  for (const scheme of ['light', 'dark']) {
    for (const [name, path] of Object.entries(pages)) await picture(browser, server.url, name, path, scheme);
  }
  await ask(server.url, `/apis/v1beta1/runs/${waiting}/terminate`, {});
} finally {
  await browser.close();
  await server.stop();
}
