import { gzipSync } from 'node:zlib';
import { screen, within } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { expect, it } from 'vitest';
import type { Run } from '../api/client';
import type { Visual } from '../api/outputs';
import type { RunSearch } from '../runs/runSearch';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { tarOf } from '../test/tar';
import { OutputsTab } from './OutputsTab';
import { VisualView } from './VisualView';

const run = {
  id: 'r1',
  name: 'r1',
  status: 'Succeeded',
  nodes: [
    { id: 'n', name: 'n', display_name: 'evaluate', type: 'Pod', artifacts: [{ name: 'report', key: 'k/report.tgz' }] },
  ],
} as unknown as Run;

const hostile = '<script>parent.stolen = 1</script><img src="/apis/v1beta1/runs"><form action="/apis/x"></form>';

function show(search: RunSearch, visuals: Visual[], of = run) {
  server.use(http.get('*/apis/argosy/v1/runs/r1/visuals', () => HttpResponse.json({ visuals })));
  renderAt('/', '/', () => <OutputsTab run={of} search={search} onShow={() => undefined} />);
}

const draw = (visual: Visual) => renderAt('/', '/', () => <VisualView visual={visual} />);
const inline = (type: string, source: string, rest: Partial<Visual> = {}): Visual => ({
  node_id: 'n',
  step_name: 'evaluate',
  number: 1,
  type,
  storage: 'inline',
  source,
  ...rest,
});

it('keeps the page of a step from scripts, from this page and from the server', async () => {
  draw(inline('web-app', hostile));
  const frame = await screen.findByTitle('Page of evaluate');
  // An empty sandbox allows nothing: no script, no form, no origin of the page around it.
  expect(frame.getAttribute('sandbox')).toBe('');
  const html = frame.getAttribute('srcdoc') ?? '';
  expect(html.indexOf('Content-Security-Policy')).toBeGreaterThan(0);
  expect(html.indexOf('Content-Security-Policy')).toBeLessThan(html.indexOf('<script>'));
  expect(html).toContain("default-src 'none'");
  expect(document.querySelector('script, form')).toBeNull();
});

it('shows the HTML of an artifact in the same way, out of its archive', async () => {
  const stored = gzipSync(tarOf({ 'report.html': `<h1>Hi</h1>${hostile}` })).toString('base64');
  server.use(
    http.get('*/apis/v1beta1/runs/r1/nodes/n/artifacts/report\\:read', () => HttpResponse.json({ data: stored })),
  );
  show({ artifact: 'n/report' }, []);
  const frame = await screen.findByTitle('report.html');
  expect(frame.getAttribute('sandbox')).toBe('');
  expect(frame.getAttribute('srcdoc')).toMatch(
    /^<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"/,
  );
  expect(screen.getByRole('button', { name: 'Download' })).toBeTruthy();
});

it('tells how large artifacts are, where that is known', async () => {
  const artifacts = [
    { name: 'report', key: 'k/report.tgz', size: '1700000' },
    { name: 'older', key: 'k/older.tgz' },
  ];
  show({}, [], { ...run, nodes: [{ id: 'n', name: 'n', type: 'Pod', artifacts }] });
  const row = (await screen.findByText('report')).closest('tr') as HTMLElement;
  expect(within(row).getByText('1.7 MB')).toBeTruthy();
  const older = screen.getByText('older').closest('tr') as HTMLElement;
  expect(within(older).getByText('—')).toBeTruthy();
});

it('says why an artifact cannot be read', async () => {
  server.use(
    http.get('*/apis/v1beta1/runs/r1/nodes/n/artifacts/report\\:read', () =>
      HttpResponse.json({ error: 'artifact "report" is larger than 256 MiB' }, { status: 400 }),
    ),
  );
  show({ artifact: 'n/report' }, []);
  expect((await screen.findByRole('alert')).textContent).toContain('larger than 256 MiB');
});

it('leads to the download of an artifact without reading it, also while it cannot be shown', async () => {
  server.use(http.get('*/apis/v1beta1/runs/r1/nodes/n/artifacts/report\\:read', () => new Promise<never>(() => {})));
  show({ artifact: 'n/report' }, []);
  const links = await screen.findAllByRole('link', { name: /^Download as stored/ });
  expect(links).toHaveLength(2);
  for (const link of links) {
    expect(link.getAttribute('href')).toBe('/apis/argosy/v1/runs/r1/nodes/n/artifacts/report:download');
    expect(link.hasAttribute('download')).toBe(true);
  }
});

it('writes Markdown as elements, and runs nothing in it', async () => {
  draw(
    inline(
      'markdown',
      '# Title\n**bold** [web](https://example.org) [bad](javascript:alert(1)) <script>x</script>\n\n- one\n- two',
    ),
  );
  expect(await screen.findByRole('heading', { name: 'Title' })).toBeTruthy();
  expect(screen.getByText('bold').tagName).toBe('STRONG');
  expect(screen.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual(['https://example.org']);
  expect(screen.getAllByRole('listitem')).toHaveLength(2);
  expect(document.querySelector('script')).toBeNull();
  expect(screen.getByText(/<script>x<\/script>/)).toBeTruthy();
});

it('draws tables, confusion matrices and ROC curves', async () => {
  draw(inline('table', 'degrees,11.81\n', { header: ['feature', 'weight'] }));
  expect((await screen.findByRole('row', { name: /degrees/ })).textContent).toBe('degrees11.81');
  draw(inline('confusion_matrix', 'cat,cat,7\ncat,dog,2\ndog,dog,5\n', { labels: ['cat', 'dog'] }));
  const matrix = await screen.findByRole('region', { name: 'Confusion matrix' });
  expect(
    within(matrix)
      .getAllByRole('row')
      .map((row) => row.textContent),
  ).toEqual(['Target ↓ predicted →catdog', 'cat72', 'dog05']);
  draw(inline('roc', '0,0,1\n0.5,0.75,0.5\n1,1,0\n'));
  const curve = await screen.findByRole('img', { name: /ROC curve/ });
  expect(curve.querySelector('polyline')?.getAttribute('points')).toBe('0,260 130,65 260,0');
});

it('says what is wrong in the file of a step, and shows it as it was written', async () => {
  show({}, [{ node_id: 'n', step_name: 'evaluate', problem: 'output 2 has no "source"', raw: '{"outputs":[{}]}' }]);
  expect(await screen.findByText('output 2 has no "source"')).toBeTruthy();
  expect(screen.getByText('{"outputs":[{}]}')).toBeTruthy();
});

it('says where a content lies that the server does not have', async () => {
  draw(inline('table', 's3://bucket/table.csv', { storage: 's3' }));
  expect(await screen.findByText(/It lies at s3:\/\/bucket\/table.csv/)).toBeTruthy();
  draw(inline('web-app', '', { source_size: '3000000' }));
  expect(await screen.findByText(/Its content \(3 MB\) is too large/)).toBeTruthy();
});
