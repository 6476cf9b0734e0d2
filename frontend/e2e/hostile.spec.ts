/* Hostile input in a browser: markup in names, values, logs and artifacts runs no script, and a page of another site cannot act. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, type Page, test } from '@playwright/test';
import { prefer } from './environment';

const markup = (what: string) => `<img src=x onerror="window.stolen='${what}'"><b>${what}</b>`;

/** A page that does all it can to make an experiment on the server, and to be noticed by the page around it. */
const attack = (origin: string, experiment: string) => `<!doctype html><h1>Attack</h1>
<iframe src="${origin}/?attack"></iframe><iframe name="inner"></iframe><img src="${origin}/favicon.ico?attack" onerror="parent.stolen = 1">
<form id="form" action="${origin}/apis/v1beta1/experiments" method="post" enctype="text/plain" target="inner">
<input name='{"name":"${experiment} by form","description":"' value='"}'></form>
<script>
  try { parent.stolen = 1 } catch {}
  document.getElementById('form').submit();
  const post = { method: 'POST', mode: 'no-cors', body: '{"name":"${experiment}"}' };
  const asked = [fetch('${origin}/apis/v1beta1/experiments', post), fetch('${origin}/apis/v1beta1/experiments')];
  Promise.allSettled(asked).then((answers) => { document.title = answers.map(({ value }) => value?.type ?? 'refused').join() });
</script>`;

const manifest = (html: string) => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Workflow',
  metadata: { generateName: 'hostile-' },
  spec: {
    entrypoint: 'main',
    arguments: { parameters: [{ name: 'text', value: markup('default') }] },
    templates: [
      { name: 'main', dag: { tasks: [{ name: 'say', template: 'say' }] } },
      {
        name: 'say',
        container: {
          image: 'host',
          command: ['sh', '-c', write, markup('line'), html],
        },
        outputs: { artifacts: [{ name: 'page', path: '/tmp/left/page.html' }] },
      },
    ],
  },
});
const write =
  'mkdir -p /tmp/left && printf %s "$1" > /tmp/left/page.html && printf "%s\\n\\033[31m%s\\033[0m\\n" "$0" "$0"';

async function experiments(page: Page): Promise<string> {
  const answer = await page.request.get('/apis/v1beta1/experiments?page_size=200&sort_by=created_at%20desc');
  expect(answer.ok()).toBe(true);
  return answer.text();
}

/** A pipeline and a run of it whose names, values and log are markup; the run has ended. */
async function prepare(page: Page, html = '<h1>Report</h1>') {
  const name = `${markup('pipeline')} ${Date.now()}`;
  const file = {
    name: 'hostile.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(manifest(html))),
  };
  const uploaded = await page.request.post(`/apis/v1beta1/pipelines/upload?name=${encodeURIComponent(name)}`, {
    multipart: { uploadfile: file },
  });
  expect(uploaded.ok(), await uploaded.text()).toBe(true);
  const pipeline = (await uploaded.json()) as { id: string };
  const parameters = [{ name: 'text', value: markup('value') }];
  const data = { name: markup('run'), description: markup('note'), pipeline_id: pipeline.id, parameters };
  const started = await page.request.post('/apis/argosy/v1/runs', { data });
  expect(started.ok(), await started.text()).toBe(true);
  const { run } = (await started.json()) as { run: { id: string } };
  const status = async () => (await (await page.request.get(`/apis/argosy/v1/runs/${run.id}`)).json()).status;
  await expect.poll(status, { timeout: 300_000 }).toBe('Succeeded');
  return { pipeline: pipeline.id, run: run.id };
}

test('names, parameters and log lines that are markup are shown as text and run nothing', async ({ page }) => {
  await prefer(page, {});
  const { pipeline, run } = await prepare(page);
  const pages: [path: string, shows: string, within?: string][] = [
    ['/runs', 'run'],
    ['/runs?params=text', 'value'],
    [`/runs/${run}`, 'line'],
    [`/runs/${run}?tab=timeline`, 'run'],
    [`/runs/${run}?tab=steps`, 'run'],
    [`/runs/${run}?tab=parameters`, 'value'],
    [`/runs/${run}?tab=yaml&node=none`, 'run', '.cm-content'],
    [`/runs/new?clone=${run}`, 'value'],
    ['/pipelines', 'pipeline'],
    [`/pipelines/${pipeline}`, 'pipeline'],
    [`/pipelines/${pipeline}?tab=parameters`, 'default'],
    [`/pipelines/${pipeline}?tab=runs`, 'run'],
  ];
  const made = () => page.evaluate(() => document.querySelectorAll('img[src="x"], [onerror]').length);
  for (const [path, shows, within = 'body'] of pages) {
    await page.goto(path);
    const seen = () =>
      page.evaluate((within) => {
        const place = document.querySelector<HTMLElement>(within);
        const fields = [...(place?.querySelectorAll('input, textarea') ?? [])] as HTMLInputElement[];
        return [place?.innerText, ...fields.map(({ value }) => value)].join('\n');
      }, within);
    await expect.poll(seen, path).toContain(`<b>${shows}</b>`);
    expect(await made(), path).toBe(0);
    expect(await page.evaluate(() => 'stolen' in window), path).toBe(false);
  }
  // Where the same is taken for markup it is found so, and the server's policy for scripts still holds it back.
  await page.evaluate((html) => document.body.insertAdjacentHTML('beforeend', html), markup('here'));
  await expect.poll(made).toBe(1);
  await expect
    .poll(() => page.evaluate(() => document.querySelector<HTMLImageElement>('img[src="x"]')?.complete))
    .toBe(true);
  expect(await page.evaluate(() => 'stolen' in window)).toBe(false);
});

test('the HTML of an artifact reaches neither the API nor the page', async ({ page, baseURL }) => {
  await prefer(page, {});
  const name = `artifact ${Date.now()}`;
  const { run } = await prepare(page, attack(baseURL as string, name));
  const reached: string[] = [];
  page.on('response', (response) => response.url().includes('attack') && reached.push(response.url()));
  await page.goto(`/runs/${run}?tab=outputs`);
  await page.getByRole('button', { name: 'page', exact: true }).click();
  const preview = page.getByRole('region', { name: 'page of say' });
  await expect(preview.frameLocator('iframe').getByRole('heading', { name: 'Attack' })).toBeVisible();
  // The same request of this page is seen, after all that the artifact would have sent.
  await page.evaluate(() => fetch('/favicon.ico?attack=control'));
  await expect.poll(() => reached).toEqual([`${baseURL}/favicon.ico?attack=control`]);
  expect(await page.evaluate(() => 'stolen' in window)).toBe(false);
  expect(await experiments(page)).not.toContain(name);

  const saved = page.waitForEvent('download'); // opened by its address it is a file, never a page of this origin
  await preview.getByRole('link').click();
  expect((await saved).suggestedFilename()).toContain('page');
});

test('a page of another site cannot act or read, and cannot frame the UI', async ({ page, baseURL }) => {
  const name = `cross-site ${Date.now()}`;
  const other = createServer((_, response) =>
    response.setHeader('Content-Type', 'text/html').end(attack(baseURL as string, name)),
  );
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  const sent = new Set<string>();
  page.on('request', (request) => request.method() === 'POST' && sent.add(request.resourceType()));
  // The server is at 127.0.0.1: localhost is another site to the browser.
  await page.goto(`http://localhost:${(other.address() as AddressInfo).port}/`);
  await expect(page).toHaveTitle('refused,refused');
  await expect.poll(() => [...sent].sort()).toEqual(['document', 'fetch']); // the form and the script
  await expect(page.frameLocator('iframe[src]').locator('#root')).toHaveCount(0);
  expect(await experiments(page)).not.toContain(name);
  other.close();

  const headers = { 'Content-Type': 'text/plain' }; // without another site's origin the same request acts
  const own = await page.request.post('/apis/v1beta1/experiments', { headers, data: JSON.stringify({ name }) });
  expect(own.ok(), await own.text()).toBe(true);
  const made = await experiments(page);
  expect(made).toContain(name);
  expect(made).not.toContain(`${name} by form`);
});
