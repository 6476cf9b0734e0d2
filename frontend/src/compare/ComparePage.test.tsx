import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { ComparePage } from './ComparePage';

const text = (a: string, b: string) => [
  { run_id: 'a', value: a },
  { run_id: 'b', value: b },
];
const points = (...values: number[]) => values.map((value, i) => ({ step: i + 1, x: i + 1, value }));
const comparison = {
  runs: [
    { id: 'a', name: 'first', status: 'Succeeded', pipeline: { id: 'p', name: 'mnist', version_id: 'v1' } },
    {
      id: 'b',
      name: 'second',
      status: 'Succeeded',
      pipeline: { id: 'p', name: 'mnist', version_id: 'v2', version_name: 'wider' },
    },
  ],
  parameters: [
    { name: 'workers', values: text('1', '4') },
    { name: 'image', values: text('x', 'x'), same: true },
  ],
  metrics: [
    {
      name: 'images/sec',
      step_name: 'train',
      format: 'RAW',
      values: [
        { run_id: 'a', value: 100 },
        { run_id: 'b', value: 380 },
      ],
    },
  ],
  series: [
    {
      name: 'loss',
      step_name: 'train',
      runs: [
        { run_id: 'a', series: { total: '2' } },
        { run_id: 'b', series: { total: '2' } },
      ],
    },
  ],
};
const curves = [
  {
    ...comparison.series[0],
    runs: [
      { run_id: 'a', series: { total: '2', points: points(3, 2) } },
      { run_id: 'b', series: { total: '2', points: points(3, 1) } },
    ],
  },
];

const visual = (type: string, source: string, more = {}) => ({
  type,
  source,
  storage: 'inline',
  step_name: 'evaluate',
  ...more,
});
const visuals = [
  {
    run_id: 'a',
    visuals: [visual('roc', '0,0,1\n1,1,0\n'), visual('table', 'cat,0.9\n', { header: ['class', 'f1'] })],
  },
  {
    run_id: 'b',
    visuals: [visual('roc', '0,0,1\n0,1,0.5\n1,1,0\n'), visual('table', 'cat,0.7\n', { header: ['class', 'f1'] })],
  },
];

function show(path: string) {
  const asked = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/runs:compare', ({ request }) => {
      const { searchParams: query } = new URL(request.url);
      if (query.get('metrics') === 'loss') return HttpResponse.json({ series: curves });
      asked(query.getAll('run_ids'), query.get('without_points'));
      return HttpResponse.json(comparison);
    }),
  );
  server.use(http.get(/runs:visuals/, () => HttpResponse.json({ runs: visuals })));
  return { asked, router: renderAt(path, '/compare', Page) };
}

// The route of the test gives strings; the application's reads them.
vi.mock('@tanstack/react-router', async (original) => {
  const actual = await original<typeof import('@tanstack/react-router')>();
  const { readCompareSearch } = await import('./compareSearch');
  return {
    ...actual,
    getRouteApi: () => ({
      useSearch: () => readCompareSearch(actual.useSearch({ strict: false }) as Record<string, unknown>),
      useNavigate: () => actual.useNavigate({ from: '/compare' as never }),
    }),
  };
});

const Page = () => <ComparePage />;

it('marks the best, and measures the others by the baseline', async () => {
  const { asked, router } = show('/compare?runs=a&runs=b');
  const row = await screen.findByRole('row', { name: /images\/sec/ });
  expect(asked).toHaveBeenCalledExactlyOnceWith(['a', 'b'], 'true');
  const [first, second] = within(row).getAllByRole('cell');
  expect(within(second as HTMLElement).getByLabelText('Best')).toBeTruthy();
  expect(second?.textContent).toBe('380+280%');
  expect(first?.textContent).toBe('100');

  await userEvent.click(screen.getByRole('button', { name: 'Take as baseline: second' }));
  expect(router.state.location.search).toMatchObject({ base: 'b' });
  expect(await within(row).findByText('-73.7%')).toBeTruthy();

  await userEvent.click(screen.getByRole('button', { name: /^images\/sec: highest is best/ }));
  expect(await screen.findByText('lowest is best')).toBeTruthy();
});

it('has runs as rows where the address says so', async () => {
  const { router } = show('/compare?runs=a&runs=b');
  const turn = await screen.findByRole('switch', { name: 'Runs as rows' });
  await userEvent.click(turn);
  expect(router.state.location.search).toMatchObject({ rows: 'runs' });
  const row = await screen.findByRole('row', { name: /second.*Succeeded.*380/ });
  expect(within(row).getByLabelText('Best')).toBeTruthy();
  expect(within(row).getAllByRole('cell').at(-1)?.textContent).toBe('4');
  expect(screen.getByRole('columnheader', { name: /images\/sec/ })).toBeTruthy();
  await userEvent.click(within(row).getByRole('button', { name: 'Take as baseline: second' }));
  expect(await screen.findByText('-73.7%')).toBeTruthy();
});

it('leads to what a run’s version does differently from the baseline’s', async () => {
  show('/compare?runs=a&runs=b');
  const link = await screen.findByRole('link', { name: 'Differences from the baseline’s version: second' });
  expect(link.getAttribute('href')).toBe('/diff?from=v1&to=v2');
  expect(screen.queryByRole('link', { name: /version: first/ })).toBeNull();
});

it('has the numbers of the curves in a table', async () => {
  show('/compare?runs=a&runs=b');
  const region = await screen.findByRole('region', { name: 'Curves' });
  await userEvent.click(within(region).getByText('Show the numbers'));
  const rows = within(await within(region).findByRole('table')).getAllByRole('row');
  expect(rows.map((row) => [...row.children].map(({ textContent }) => textContent))).toEqual([
    ['Step', '1 first', '2 second'],
    ['1', '3', '3'],
    ['2', '2', '1'],
  ]);
});

it('shows only the parameters that differ, unless all are asked for', async () => {
  show('/compare?runs=a&runs=b');
  expect(await screen.findByRole('row', { name: /^workers/ })).toBeTruthy();
  expect(screen.queryByRole('row', { name: /^image x/ })).toBeNull();
  await userEvent.click(screen.getByRole('switch', { name: 'Only parameters that differ' }));
  expect(await screen.findByRole('row', { name: /^image x/ })).toBeTruthy();
});

it('draws the curves over each other, and a point for each run', async () => {
  show('/compare?runlist=a,b');
  const curves = await screen.findByRole('img', { name: 'loss of train' });
  expect(curves.querySelectorAll('path')).toHaveLength(2);
  const scatter = screen.getByRole('img', { name: /^images\/sec \(train\) over workers/ });
  expect(scatter.querySelectorAll('circle')).toHaveLength(2);
});

it('says what to do where there is nothing to compare', async () => {
  show('/compare?runs=a');
  expect(await screen.findByRole('heading', { name: 'Choose what to compare' })).toBeTruthy();
});

it('draws each run as a line across the axes that the address names, and lets the keyboard change them', async () => {
  const { router } = show('/compare?runs=a&runs=b&axes=parameter:workers&axes=metric:train/images/sec&mark=b');
  const picture = await screen.findByRole('img', { name: /^Each run as a line across workers, images\/sec \(train\)/ });
  const strands = picture.querySelectorAll('path');
  expect(strands).toHaveLength(2);
  // The highlighted run is drawn last, and thicker.
  expect([...strands].map((path) => path.getAttribute('stroke-width'))).toEqual(['2', '4']);

  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Highlight a run' }), 'a');
  expect(router.state.location.search).toMatchObject({ mark: 'a' });

  const region = screen.getByRole('region', { name: 'All at once' });
  const summary = within(region).getByText('As a table');
  await userEvent.click(summary);
  const row = await within(region).findByRole('row', { name: '2 second 4 380' });
  expect(within(row).getAllByRole('cell')).toHaveLength(2);
  expect(within(region).getByRole('row', { current: true }).textContent).toBe('1 first1100');
});

it('selects the runs in the ranges of all axes, by a drag and by fields, and keeps the ranges in the address', async () => {
  const axes = 'axes=parameter:workers&axes=metric:train/images/sec';
  const { router } = show(`/compare?runs=a&runs=b&${axes}`);
  const picture = await screen.findByRole('img', { name: /^Each run as a line across/ });
  const region = screen.getByRole('region', { name: 'All at once' });
  const faint = () => [...picture.querySelectorAll('g[data-faint] title')].map(({ textContent }) => textContent);
  expect(picture.querySelectorAll('[data-brush]')).toHaveLength(2);
  expect(faint()).toEqual([]);

  // The upper half of the first axis holds the second run.
  const axis = picture.querySelector('[data-brush]') as SVGRectElement;
  vi.spyOn(axis, 'getBoundingClientRect').mockReturnValue({ top: 100, height: 200 } as DOMRect);
  fireEvent.pointerDown(axis, { button: 0, pointerId: 1, clientY: 100 });
  fireEvent.pointerMove(axis, { pointerId: 1, clientY: 200 });
  fireEvent.pointerUp(axis, { pointerId: 1, clientY: 200 });
  expect(await within(region).findByText('1 of 2 runs is selected.')).toBeTruthy();
  expect(faint()).toEqual(['first']);
  const { brush } = router.state.location.search as { brush: string };
  expect(brush).toBe('2.5~4.15~parameter:workers');

  await userEvent.click(within(region).getByText('As a table'));
  expect(await within(region).findByRole('row', { name: '2 second 4 380' })).toBeTruthy();
  expect(within(region).queryByRole('row', { name: /^1 first/ })).toBeNull();

  await userEvent.click(within(region).getByText(/^Select by ranges/));
  await userEvent.type(within(region).getByLabelText('images/sec (train): to'), '200');
  expect(await within(region).findByText('0 of 2 runs are selected.')).toBeTruthy();
  expect(faint().sort()).toEqual(['first', 'second']);
  await userEvent.click(within(region).getByRole('button', { name: 'Clear the ranges' }));
  expect(await within(region).findByRole('row', { name: /^1 first/ })).toBeTruthy();
  expect(router.state.location.search).not.toHaveProperty('brush');
});

it('draws the ROC curves of the runs over each other with their areas, and their tables as one', async () => {
  show('/compare?runs=a&runs=b');
  const curves = await screen.findByRole('img', { name: /^ROC curves of evaluate/ });
  expect([...curves.querySelectorAll('path title')].map(({ textContent }) => textContent)).toEqual([
    '1 first',
    '2 second',
  ]);
  const areas = screen.getByRole('region', { name: 'Areas under the ROC curves of evaluate' });
  expect(within(areas).getByRole('row', { name: '1 first 0.5' })).toBeTruthy();
  expect(within(areas).getByRole('row', { name: '2 second 1' })).toBeTruthy();
  const table = screen.getByRole('region', { name: 'Tables of evaluate' });
  expect(within(table).getByRole('row', { name: 'Run class f1' })).toBeTruthy();
  expect(within(table).getByRole('row', { name: '2 second cat 0.7' })).toBeTruthy();
});

it('shows what the pipeline of another run does differently, once it is asked for', async () => {
  const diff = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/pipeline_versions\\:diff', ({ request }) => {
      diff(Object.fromEntries(new URL(request.url).searchParams));
      return HttpResponse.json({ changes: [{ step: 'train', path: 'container.image', from: '"x"', to: '"y"' }] });
    }),
    http.get('*/apis/argosy/v1/pipeline_versions/:id/graph', () => HttpResponse.json({ nodes: [] })),
  );
  const { router } = show('/compare?runs=a&runs=b');
  await screen.findByRole('row', { name: /images\/sec/ });
  const section = screen.getByRole('region', { name: 'Pipelines' });
  expect(diff).not.toHaveBeenCalled();
  await userEvent.click(within(section).getByRole('button', { name: 'Show the differences' }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ diff: 'graph' }));
  await userEvent.click(await within(section).findByRole('radio', { name: 'Differences' }));
  expect(await within(section).findByRole('row', { name: /container\.image/ })).toBeTruthy();
  expect(diff).toHaveBeenCalledExactlyOnceWith({ from: 'v1', to: 'v2' });
});
