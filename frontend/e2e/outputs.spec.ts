/* What a step leaves: it is drawn and can be opened, and a page of its own making runs no script and sends no request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';
import { picture, prefer } from './environment';

/** A page that does all it can to be heard at an address. */
const hostile = (at: string) => `<h1>Report</h1><script>parent.stolen = 1; fetch('${at}/script')</script>
<img src="${at}/image"><link rel="stylesheet" href="${at}/style"><iframe src="${at}/frame"></iframe>
<video src="${at}/video" autoplay></video><meta http-equiv="refresh" content="0;url=${at}/refresh">`;

const visuals = (page: string) => ({
  outputs: [
    { type: 'markdown', storage: 'inline', source: '# Ice cream\n**89%** of the sales' },
    { type: 'table', storage: 'inline', format: 'csv', header: ['feature', 'weight'], source: 'degrees,11.8\n' },
    { type: 'web-app', storage: 'inline', source: page },
    { type: 'table', storage: 'inline', format: 'csv', source: 'no header' },
  ],
});

/** A server that remembers what it was asked. */
async function listen() {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { heard, server, at: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A run whose only step writes what it is given. */
async function reportingRun(page: Page, hostilePage: string): Promise<string> {
  const write = 'mkdir -p /tmp/left && printf %s "$0" > /tmp/left/ui.json && printf %s "$1" > /tmp/left/page.html';
  const manifest = {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: { generateName: 'report-' },
    spec: {
      entrypoint: 'main',
      templates: [
        { name: 'main', dag: { tasks: [{ name: 'report', template: 'report' }] } },
        {
          name: 'report',
          container: { image: 'host', command: ['sh', '-c', write, JSON.stringify(visuals(hostilePage)), hostilePage] },
          outputs: {
            artifacts: [
              { name: 'mlpipeline-ui-metadata', path: '/tmp/left/ui.json' },
              { name: 'page', path: '/tmp/left/page.html' },
            ],
          },
        },
      ],
    },
  };
  const answer = await page.request.post('/apis/v1beta1/runs', {
    data: { name: `report ${Date.now()}`, pipeline_spec: { workflow_manifest: JSON.stringify(manifest) } },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
  const { run } = (await answer.json()) as { run: { id: string } };
  const status = async () => (await (await page.request.get(`/apis/argosy/v1/runs/${run.id}`)).json()).status;
  await expect.poll(status, { timeout: 300_000 }).toBe('Succeeded');
  return run.id;
}

test('what a step left is drawn, what is wrong in it is said, and its pages reach nothing', async ({
  page,
  context,
}) => {
  const { heard, server, at } = await listen();
  await prefer(page, {});
  const id = await reportingRun(page, hostile(at));
  await page.goto(`/runs/${id}?tab=outputs`);

  const report = page.getByRole('region', { name: 'Report of report' });
  await expect(report.getByRole('heading', { name: 'Ice cream' })).toBeVisible();
  await expect(report.getByRole('row', { name: 'degrees 11.8' })).toBeVisible();
  await expect(report.getByRole('alert')).toContainText('header');
  const frame = report.frameLocator('iframe');
  await expect(frame.getByRole('heading', { name: 'Report' })).toBeVisible();

  await page.getByRole('button', { name: 'page', exact: true }).click();
  await expect(page).toHaveURL(/artifact=/);
  const preview = page.getByRole('region', { name: 'page of report' });
  await expect(preview.frameLocator('iframe').getByRole('heading', { name: 'Report' })).toBeVisible();
  const saved = page.waitForEvent('download');
  await preview.getByRole('button', { name: 'Download', exact: true }).click();
  expect((await saved).suggestedFilename()).toBe('page.html');

  expect(await page.evaluate(() => 'stolen' in window)).toBe(false);
  const unguarded = await context.newPage(); // where the same page is heard, after all that the guarded ones would have sent
  await unguarded.setContent(hostile(`${at}/unguarded`), { waitUntil: 'commit' });
  await expect.poll(() => heard).toContain('/unguarded/image');
  await unguarded.waitForURL(`${at}/unguarded/refresh`); // the tab is closed once it has arrived, not on its way
  await unguarded.close();
  server.close();
  // The unguarded page leads its tab here, and the browser asks for the icon of that tab.
  expect(heard.filter((path) => !path.startsWith('/unguarded/') && path !== '/favicon.ico')).toEqual([]);
  const { violations } = await new AxeBuilder({ page })
    .exclude('iframe')
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
    .analyze();
  expect(violations.map(({ id: rule, nodes }) => [rule, nodes.map((node) => node.html)])).toEqual([]);
  await picture(page, 'outputs');
});
