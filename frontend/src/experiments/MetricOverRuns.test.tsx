import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it } from 'vitest';
import type { ExperimentSearch } from '../api/runs';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { MetricOverRuns } from './MetricOverRuns';

const run = (i: number, status: string, metrics: object[]) => ({
  id: `r${i}`,
  name: `run-${i}`,
  status,
  started_at: `2026-11-2${i}T10:00:00Z`,
  metrics,
});
const loss = { name: 'loss', node_id: 'n', value: 0.25 };
const speed = { name: 'images/sec', node_id: 'n', value: 900 };
const runs = [run(3, 'Failed', []), run(2, 'Failed', [loss]), run(1, 'Succeeded', [loss, speed])];

function show(search: ExperimentSearch) {
  const asked: string[] = [];
  server.use(
    http.get('*/apis/argosy/v1/runs', ({ request }) => {
      asked.push(new URL(request.url).search);
      return HttpResponse.json({ runs, total_size: 450, next_page_token: 'more' });
    }),
  );
  const router = renderAt('/', '/', () => <MetricOverRuns search={search} experimentID="e" />);
  return { asked, router };
}

it('draws a metric of the newest runs, each point a link to its run and failed ones marked, by one request', async () => {
  const { asked } = show({ size: 10, token: 'second', status: ['Failed'], pins: ['r1'] });
  const chart = await screen.findByRole('group', { name: 'loss by the time that each run started' });
  const links = within(chart).getAllByRole('link');
  expect(links.map((link) => link.getAttribute('href'))).toEqual(['/runs/r1', '/runs/r2', '/runs/r3']);
  expect(links[0]?.getAttribute('aria-label')).toMatch(/^run-1, 0\.25, Succeeded, /);
  expect(links.map((link) => link.querySelectorAll('path').length)).toEqual([0, 1, 1]);
  expect(screen.getByText('The newest 3 of 450 runs are drawn.')).toBeTruthy();
  expect(screen.getByText(/failed runs that report no value/)).toBeTruthy();
  expect(asked).toHaveLength(1);
  const query = new URLSearchParams(asked[0]);
  expect([query.get('page_size'), query.get('page_token'), query.get('experiment_id')]).toEqual(['200', null, 'e']);
  expect(query.getAll('status')).toEqual(['Failed']);
});

it('keeps the metric in the URL, and says the numbers in a table', async () => {
  const { router } = show({ metric: 'images/sec' });
  await screen.findByRole('group', { name: 'images/sec by the time that each run started' });
  await userEvent.click(screen.getByText('Show the numbers'));
  const rows = within(await screen.findByRole('table')).getAllByRole('row');
  expect(rows.map((row) => row.textContent)).toEqual([
    expect.stringContaining('images/sec'),
    expect.stringMatching(/run-3.*Failed.*—/),
    expect.stringMatching(/run-2.*Failed.*—/),
    expect.stringMatching(/run-1.*Succeeded.*900/),
  ]);
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Metric' }), 'loss');
  await waitFor(() => expect(router.state.location.search).toEqual({ metric: 'loss' }));
});
