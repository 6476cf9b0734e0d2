import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import type uPlot from 'uplot';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Run } from '../api/client';
import type { RunSearch } from '../runs/runSearch';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { MetricsTab } from './MetricsTab';

// There is no canvas: what would be drawn is kept here.
const drawn = vi.hoisted(() => ({
  data: [] as unknown[][],
  series: [] as unknown[],
  scales: {} as { x?: uPlot.Scale },
}));
vi.mock('uplot', () => ({
  default: class {
    ctx = { canvas: null };
    constructor(options: { series: unknown[]; scales: { x?: uPlot.Scale } }, data: unknown[][]) {
      drawn.series = options.series;
      drawn.scales = options.scales;
      drawn.data = data;
    }
    setData(data: unknown[][]) {
      drawn.data = data;
    }
    setSize() {}
    destroy() {}
  },
}));
beforeEach(() => Object.assign(drawn, { data: [], series: [] }));

const run = {
  id: 'r1',
  name: 'r1',
  status: 'Succeeded',
  started_at: '2026-01-01T00:00:00Z',
  nodes: [{ id: 'n', name: 'n', display_name: 'train', type: 'Pod' }],
  metrics: [{ name: 'loss', node_id: 'n', value: 0.25 }],
} as unknown as Run;

const point = (step: number, value?: number) => ({
  step: String(step),
  printed_at: `2026-01-01T00:00:0${step}Z`,
  value,
});
const series = (rest: object) => ({
  node_id: 'n',
  step_name: 'train',
  name: 'loss',
  format: 'RAW',
  total: '3',
  ...rest,
});

function serve(all: { name: string; points?: object[] }[]) {
  const asked: string[] = [];
  const answer = (list: object[]) => HttpResponse.json({ series: list });
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/metrics', () => answer(all.map(({ points: _, ...rest }) => rest))),
    http.get('*/apis/argosy/v1/runs/r1/metrics/:name/series', ({ params, request }) => {
      asked.push(`${params.name} ${new URL(request.url).searchParams.get('points')}`);
      return answer(all.filter((one) => one.name === params.name));
    }),
  );
  return asked;
}

function show(search: RunSearch = {}) {
  const onShow = vi.fn();
  renderAt('/', '/', () => <MetricsTab run={run} search={search} onShow={onShow} />);
  return onShow;
}

const ranks = [
  series({ points: [point(1, 4), point(2, 2), point(3, 1)] }),
  series({ rank: 1, points: [point(1, 8), point(2, 6), point(3)] }),
];

it('draws each rank, and says the last, least and greatest value beside the result', async () => {
  serve(ranks);
  show();
  await waitFor(() =>
    expect(drawn.data).toEqual([
      [1, 2, 3],
      [4, 2, 1],
      [8, 6, null],
    ]),
  );
  const chart = screen.getByRole('region', { name: 'Curves of loss' });
  expect(
    within(chart)
      .getAllByRole('listitem')
      .map((item) => item.textContent),
  ).toEqual(['rank 01', 'rank 16']);
  expect(within(chart).getByText('1 value is no number and leaves a gap.')).toBeTruthy();
  const row = screen.getByRole('row', { name: /^loss train/ });
  expect(
    within(row)
      .getAllByRole('cell')
      .map((cell) => cell.textContent),
  ).toEqual(['loss', 'train', '0.25', '1', '1', '8', '6 (2 ranks)']);
});

it('draws the mean of ranks in their band, with the raw curve behind a smoothed one', async () => {
  serve(ranks);
  show({ ranks: 'mean', smooth: 0.5 });
  // The axis, then the raw mean, the edges of the band, and the smoothed mean.
  await waitFor(() => expect(drawn.data).toHaveLength(5));
  expect(drawn.data.slice(0, 4)).toEqual([
    [1, 2, 3],
    [6, 4, 1],
    [8, 6, 1],
    [4, 2, 1],
  ]);
  expect((drawn.data[4] as number[])[0]).toBe(6);
  expect((drawn.data[4] as number[])[1]).toBeCloseTo(14 / 3);
});

it('leaves zero and less out of a logarithmic axis, and says so', async () => {
  serve([series({ points: [point(1, 0), point(2, -1), point(3, 5)] })]);
  show({ scale: 'log' });
  await waitFor(() => expect(drawn.data[1]).toEqual([null, null, 5]));
  expect(screen.getByText(/have no place on a logarithmic axis/)).toBeTruthy();
});

it('asks for all points of what is zoomed to, and says what is left out', async () => {
  const whole = series({ total: '100000', sampling: 'min/max', points: [point(1, 4), point(9, 2)] });
  const limits = ['from_step', 'to_step', 'from_time', 'to_time'];
  const asked: string[] = [];
  let sampling = 'none';
  serve([whole]);
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/metrics/loss/series', ({ request }) => {
      const { searchParams } = new URL(request.url);
      const part = limits.flatMap((name) => searchParams.get(name) ?? []).join(' ');
      asked.push(part);
      const finer = { ...whole, sampling, points: [point(1, 4), point(2, 7), point(3, 6), point(4, 1)] };
      return HttpResponse.json({ series: [part ? finer : whole] });
    }),
  );
  show();
  expect(await screen.findByText(/Shows 2 of 100,000 points/)).toBeTruthy();
  cleanup();
  show({ zoom: '2~3' });
  await waitFor(() =>
    expect(drawn.data).toEqual([
      [1, 2, 3, 4, 9],
      [4, 7, 6, 1, 2],
    ]),
  );
  expect(asked).toContain('2 3');
  expect(screen.queryByText(/points/)).toBeNull();
  cleanup();
  sampling = 'min/max';
  show({ zoom: '2~3', x: 'relative' });
  expect(await screen.findByText(/Points are left out of this part/)).toBeTruthy();
  expect(asked).toContain('2026-01-01T00:00:02.000Z 2026-01-01T00:00:03.000Z');
});

const epochs = series({ name: 'epoch', points: [point(1, 0), point(2, 10), point(3, 20)] });

it('draws along another metric, each value at that of the same step, and asks for it once', async () => {
  const loss = series({ points: [point(3, 1), point(1, 4), point(2, 2)] });
  const asked = serve([loss, series({ name: 'error', points: [point(1, 9), point(2, 8)] }), epochs]);
  show({ x: 'metric:epoch', metric: 'loss' });
  await waitFor(() =>
    expect(drawn.data).toEqual([
      [0, 10, 20],
      [4, 2, 1],
    ]),
  );
  expect(screen.getByText(/stands at the epoch of the same step/)).toBeTruthy();
  expect(asked.sort()).toEqual(['epoch 500', 'loss 500']);
  cleanup();
  asked.length = 0;
  show({ x: 'metric:epoch' });
  await screen.findByRole('region', { name: 'Curves of error' });
  await waitFor(() => expect(asked.filter((one) => one.startsWith('epoch'))).toHaveLength(1));
});

it('asks for finer points of both metrics in a zoom along another metric', async () => {
  const asked = serve([series({ points: [point(1, 4), point(2, 3), point(3, 2)] }), epochs]);
  show({ x: 'metric:epoch', metric: 'loss', zoom: '2~6' });
  await waitFor(() => expect(asked).toContain('loss 4000'));
  await waitFor(() => expect(asked).toContain('epoch 4000'));
});

it('says that no step measured both', async () => {
  serve([series({ points: [point(1, 4), point(2, 3)] }), { ...epochs, node_id: 'other' }]);
  show({ x: 'metric:epoch', metric: 'loss' });
  expect(await screen.findByText(/no step that measured this measured epoch too/)).toBeTruthy();
});

it('has a logarithmic x-axis, without what has no place on it', async () => {
  serve([series({ points: [point(1, 4), point(2, 3), point(3, 2)] }), epochs]);
  show({ x: 'metric:epoch', xscale: 'log', metric: 'loss' });
  await waitFor(() => expect(drawn.data[0]).toEqual([10, 20]));
  expect(drawn.scales.x?.distr).toBe(3);
  expect(screen.getByText(/have no place on a logarithmic axis/)).toBeTruthy();
});

it('chooses the metric along the x-axis and its scale', async () => {
  serve([...ranks, epochs]);
  const onShow = show({ x: 'metric:epoch' });
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Logarithmic along' }));
  expect(onShow).toHaveBeenLastCalledWith({ xscale: 'log', zoom: undefined });
  await userEvent.click(screen.getByRole('combobox', { name: 'Along which metric' }));
  await userEvent.click(await screen.findByRole('option', { name: 'loss' }));
  expect(onShow).toHaveBeenLastCalledWith({ x: 'metric:loss', zoom: undefined, xscale: undefined });
  await userEvent.click(screen.getByRole('radio', { name: 'Time' }));
  expect(onShow).toHaveBeenLastCalledWith({ x: 'time', zoom: undefined, xscale: undefined });
});

it('shows the numbers of a chart as a table', async () => {
  serve([ranks[0] as (typeof ranks)[0]]);
  show();
  await userEvent.click(await screen.findByText('Show the numbers'));
  const table = await screen.findByRole('region', { name: 'Numbers of loss' });
  expect(
    within(table)
      .getAllByRole('row')
      .map((row) => row.textContent),
  ).toEqual(['Steptrain', '14', '22', '31']);
});

it('keeps the axis and the name that is looked for in the address', async () => {
  serve(ranks);
  const onShow = show();
  await userEvent.click(await screen.findByRole('radio', { name: 'Seconds' }));
  expect(onShow).toHaveBeenCalledWith({ x: 'relative', zoom: undefined });
  await userEvent.type(screen.getByRole('searchbox', { name: 'Find a metric' }), 'a');
  expect(onShow).toHaveBeenCalledWith({ metric: 'a' });
});

it('shows a name that is markup as the text that it is', async () => {
  const name = '<img src=x onerror="alert(1)">/a b';
  serve([series({ name, points: [point(1, 1), point(2, 2)] })]);
  show();
  expect(await screen.findByRole('heading', { name })).toBeTruthy();
  expect(document.querySelector('img')).toBeNull();
});

it('teaches how to measure when nothing was measured, and says what failed when the server does', async () => {
  serve([]);
  renderAt('/', '/', () => <MetricsTab run={{ ...run, metrics: [] }} search={{}} onShow={() => undefined} />);
  expect(await screen.findByText(/printing lines such as/)).toBeTruthy();
  cleanup();
  const running = { ...run, status: 'Running', metrics: [] };
  renderAt('/', '/', () => <MetricsTab run={running} search={{}} onShow={() => undefined} />);
  expect(await screen.findByText('No metrics yet. They appear here while a step prints them.')).toBeTruthy();
  cleanup();
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/metrics', () =>
      HttpResponse.json({ error: 'the store is away' }, { status: 503 }),
    ),
  );
  show();
  expect((await screen.findByRole('alert')).textContent).toContain('the store is away');
});
