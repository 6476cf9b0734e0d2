import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import type { ScalingReport } from '../api/scaling';
import { save } from '../metrics/download';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { ScalingPage } from './ScalingPage';

vi.mock('../metrics/download', () => ({ save: vi.fn() }));

// The route of the test gives strings; the application's reads them.
vi.mock('@tanstack/react-router', async (original) => {
  const actual = await original<typeof import('@tanstack/react-router')>();
  const { readScalingSearch } = await import('./scalingSearch');
  return {
    ...actual,
    getRouteApi: () => ({
      useSearch: () => readScalingSearch(actual.useSearch({ strict: false }) as Record<string, unknown>),
      useNavigate: () => actual.useNavigate({ from: '/scaling' as never }),
    }),
  };
});

const said = '2 ranks: 89.5 % efficient (95 %: 88.0–91.0 %), 1.79 times the throughput of 1; ranks lose speed';

const report = {
  metric: 'images/sec',
  step: 'train',
  experiment_name: 'my-sweep',
  method: 'Each run, or each pass of its loop, gives one value.',
  metrics: [
    { name: 'images/sec', step_name: 'train', runs: 3 },
    { name: 'loss', step_name: 'train', runs: 3 },
  ],
  varying: [
    { name: 'network', values: ['eni', 'host'] },
    { name: 'workers', values: ['1', '2'] },
  ],
  result: {
    title: 'my-sweep',
    metric: 'images/sec',
    by: 'workers',
    scaling: true,
    verdicts: [said],
    warnings: ['train driver differs between runs and is no axis of this report'],
    price_source: 'USD',
    command: 'argosy sweep mpi_run --matrix workers=1,2 --experiment my-sweep',
    lines: [
      {
        kind: 'weak',
        base: '1',
        cells: [
          {
            at: '1',
            parameters: { workers: '1' },
            values: [100, 101],
            ranks: 1,
            counted: true,
            median: 100.5,
            least: 100,
            most: 101,
            per_rank: 100.5,
            speedup: 1,
            efficiency: 1,
            cost_per_hour: 3,
            cost_per_million: 8.3,
          },
          {
            at: '2',
            parameters: { workers: '2' },
            values: [180],
            failed: 1,
            ranks: 2,
            median: 180,
            least: 180,
            most: 180,
            per_rank: 90,
            speedup: 1.791,
            efficiency: 0.8955,
            stragglers: [1, 0.9],
            bandwidth: 3.13,
            cost_per_hour: 6,
            cost_per_million: 9.26,
            against: {
              ratio: 0.8955,
              low: 0.88,
              high: 0.91,
              p: 0.002,
              adjusted: 0.002,
              smallest: 0.02,
              different: true,
            },
          },
        ],
      },
    ],
    differences: [
      {
        name: 'train driver',
        cells: [
          { cell: 'workers=1', values: ['550.90'] },
          { cell: 'workers=2', values: ['550.54'] },
        ],
      },
    ],
    failures: [{ run: 'two-2', id: 'r4', cell: 'workers=2', why: 'worker 1 was lost' }],
    same: { image: 'x' },
    runs: [
      { id: 'r1', name: 'one-1', started: '2026-11-20T10:00:00Z', value: 100, world: 1, parameters: { workers: '1' } },
    ],
  },
} satisfies ScalingReport;

function show(path: string, answer: object = report) {
  const asked = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/scaling', ({ request }) => {
      asked(Object.fromEntries(new URL(request.url).searchParams));
      return HttpResponse.json(answer);
    }),
    http.get('*/apis/argosy/v1/scaling\\:export', ({ request }) => {
      asked(Object.fromEntries(new URL(request.url).searchParams));
      return HttpResponse.json({ file_name: 'scaling.md', media_type: 'text/markdown', text: '# my-sweep' });
    }),
    http.get('*/apis/v1beta1/experiments', () =>
      HttpResponse.json({
        experiments: [
          { id: 'e1', name: 'my-sweep', description: 'argosy sweep mpi_run' },
          { id: 'e2', name: 'other' },
        ],
      }),
    ),
  );
  return { asked, router: renderAt(path, '/scaling', () => <ScalingPage />) };
}

it('shows what the server counted: verdicts, cells, charts, stragglers, differences and the command', async () => {
  const { asked } = show('/scaling?experiment=e1&price=3&source=USD');
  expect(await screen.findByText(said)).toBeTruthy();
  expect(asked).toHaveBeenCalledExactlyOnceWith({ experiment_id: 'e1', price: '3', price_source: 'USD' });
  expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Scaling: my-sweep');
  expect(screen.getByText('Weak scaling')).toBeTruthy();

  const cells = screen.getByRole('region', { name: 'Cells: images/sec by workers' });
  const [, base, two] = within(cells).getAllByRole('row');
  expect(base?.textContent).toContain('(base)');
  const texts = within(two as HTMLElement).getAllByRole('cell');
  expect(texts.map((cell) => cell.textContent)).toEqual([
    '1 + 1 failed',
    '180',
    '—',
    '2 asked for',
    '90',
    '1.79',
    '89.6%',
    '88.0% – 91.0%',
    '0.002',
    '2.0%',
    '3.13',
    '6',
    '9.26',
  ]);
  expect(within(two as HTMLElement).getByText('Other than at the base: train driver')).toBeTruthy();

  const throughput = screen.getByRole('img', { name: /^images\/sec over Ranks\. 1: 100\.5; 2: 180\./ });
  expect(throughput.querySelectorAll('polyline')).toHaveLength(2);
  expect(screen.getByRole('img', { name: /^Efficiency over Ranks/ }).querySelectorAll('path')).toHaveLength(1);
  expect(screen.getByRole('img', { name: '2: slowest is rank 1 with 90.0% of the fastest' })).toBeTruthy();
  expect(screen.getByLabelText('Other than in the first cell:')).toBeTruthy();
  expect(screen.getByText('worker 1 was lost')).toBeTruthy();
  expect(screen.getByText(report.result.command)).toBeTruthy();
});

it('keeps every choice in the address', async () => {
  const { asked, router } = show('/scaling?runs=a&runs=b');
  await screen.findByText(said);
  await userEvent.selectOptions(screen.getByLabelText('Metric'), 'loss (train)');
  expect(router.state.location.search).toMatchObject({ runs: ['a', 'b'], metric: 'loss', step: 'train' });
  await userEvent.selectOptions(screen.getByLabelText('Effect of'), 'network');
  await userEvent.selectOptions(await screen.findByRole('combobox', { name: 'Compared with' }), 'host');
  expect(router.state.location.search).toMatchObject({ by: 'network', base: 'host' });
  // A request that was given up may still come after it.
  await waitFor(() =>
    expect(asked).toHaveBeenCalledWith({
      run_ids: 'b',
      metric: 'loss',
      step: 'train',
      by: 'network',
      base: 'host',
    }),
  );
});

it('keeps what was typed into two fields, one right after the other', async () => {
  const { router } = show('/scaling?runs=a&runs=b');
  await screen.findByText(said);
  fireEvent.change(screen.getByLabelText('Price of a rank an hour'), { target: { value: '3' } });
  fireEvent.change(screen.getByLabelText('Currency and source of the price'), { target: { value: 'USD' } });
  await waitFor(() => expect(JSON.stringify(router.state.location.search)).toMatch(/"price":"?3.*"source":"USD"/));
});

it('saves the report that the server writes', async () => {
  const { asked } = show('/scaling?experiment=e1');
  await userEvent.click(await screen.findByRole('button', { name: 'Download the report as Markdown' }));
  await waitFor(() => expect(save).toHaveBeenCalledWith(expect.any(Blob), 'scaling.md'));
  expect(asked).toHaveBeenLastCalledWith({ 'report.experiment_id': 'e1', format: 'md' });
});

it('says why there is no report, and still lets choose', async () => {
  const { result, ...rest } = report;
  expect(result.by).toBe('workers');
  show('/scaling?experiment=e1', { ...rest, refused: 'no run of these has ended' });
  expect(await screen.findByText('no run of these has ended')).toBeTruthy();
  expect(screen.getByLabelText('Metric')).toBeTruthy();
});

it('offers sweeps where nothing is chosen', async () => {
  show('/scaling');
  expect(await screen.findByRole('link', { name: 'my-sweep' })).toBeTruthy();
  expect(screen.queryByRole('link', { name: 'other' })).toBeNull();
});
