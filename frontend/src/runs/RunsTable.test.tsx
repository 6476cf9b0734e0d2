import { useSearch } from '@tanstack/react-router';
import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { encodeFilter, readListSearch } from '../api/list';
import { many } from '../api/url';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { RunsTable } from './RunsTable';
import { readPins } from './views';

const run = (id: string, rest: object) => ({ id, name: id, status: 'Succeeded', ...rest });
const metric = (name: string, value: number) => ({ name, value, node_id: 'n', format: 'RAW' });

function Table() {
  const raw = useSearch({ strict: false }) as Record<string, unknown>;
  const { status, metrics, params, chosen } = raw;
  return (
    <RunsTable
      search={{
        ...readListSearch(raw),
        status: many(status),
        metrics: many(metrics),
        params: many(params),
        chosen: many(chosen),
        ...readPins(raw),
      }}
    />
  );
}

function answer(...pages: object[]) {
  const asked = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/runs', ({ request }) => {
      const { searchParams } = new URL(request.url);
      asked({ ...Object.fromEntries(searchParams), status: searchParams.getAll('status') });
      return HttpResponse.json(pages[Math.min(asked.mock.calls.length, pages.length) - 1]);
    }),
  );
  return asked;
}

it('has a column for each metric that it meets, whatever its name', async () => {
  answer({
    runs: [run('a', { metrics: [metric('images/sec', 189.6)] }), run('b', { metrics: [metric('Loss (val)', 0.25)] })],
    total_size: 2,
  });
  renderAt('/', '/', Table);
  const headers = (await screen.findAllByRole('columnheader')).map((header) => header.textContent);
  expect(headers.slice(-2)).toEqual(['images/sec', 'Loss (val)']);
  expect(within(screen.getByRole('row', { name: /\ba\b/ })).getByText('189.6')).toBeTruthy();
});

it('shows only the metric columns that the URL names, and says when a step was not the only one', async () => {
  answer({ runs: [run('a', { metrics: [metric('x', 1), metric('y', 2), metric('y', 3)] })], total_size: 1 });
  renderAt('/?metrics=y', '/', Table);
  const row = await screen.findByRole('row', { name: /\ba\b/ });
  expect(within(row).getByText('and 1 more')).toBeTruthy();
  expect(screen.queryByRole('columnheader', { name: 'x' })).toBeNull();
});

it('asks the server for what the URL says, and writes what is chosen into the URL', async () => {
  const asked = answer({ runs: [run('a', {})], total_size: 40, next_page_token: 'T2' });
  const router = renderAt('/?q=mpi&status=Failed&status=Error&size=10', '/', Table);
  await screen.findByRole('row', { name: /\ba\b/ });
  const first = asked.mock.calls[0]?.[0];
  expect(first.page_size).toBe('10');
  expect(first).toMatchObject({ text: 'mpi', status: ['Failed', 'Error'], archived: 'false' });

  await userEvent.click(screen.getByRole('button', { name: 'Next page' }));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].page_token).toBe('T2'));
  expect(router.state.location.search).toMatchObject({ q: 'mpi', token: 'T2', page: '2' });

  await userEvent.click(screen.getByRole('button', { name: 'Previous page' }));
  await waitFor(() => expect(router.state.location.search).not.toHaveProperty('token', 'T2'));

  await userEvent.click(screen.getByRole('button', { name: 'Name' }));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].sort_by).toBe('name desc'));
});

it('says what to do when there are no runs, and how to widen a filter that leaves none', async () => {
  answer({});
  renderAt('/', '/', Table);
  expect(await screen.findByRole('heading', { name: 'No runs yet' })).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Create run' })).toBeTruthy();
});

it('shows an error in the words of the server, and tries again', async () => {
  server.use(
    http.get('*/apis/argosy/v1/runs', () => HttpResponse.json({ error: 'the store is locked' }, { status: 500 })),
  );
  renderAt('/', '/', Table);
  expect((await screen.findByRole('alert')).textContent).toContain('the store is locked');
  answer({ runs: [run('a', {})], total_size: 1 });
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByRole('row', { name: /\ba\b/ })).toBeTruthy();
});

it('has columns for the last, least and greatest value of curves, and sorts by them', async () => {
  const asked = answer({
    runs: [
      run('a', { curves: [{ name: 'loss', format: 'RAW', last: 0.5, min: 0.25, max: 4 }] }),
      run('b', { curves: [{ name: 'loss', format: 'RAW', min: 1, max: 2 }] }),
      run('c', {}),
    ],
    total_size: 3,
  });
  server.use(http.get('*/apis/argosy/v1/runs:fields', () => HttpResponse.json({ curves: ['loss'] })));
  const router = renderAt('/?metrics=last(loss)', '/', Table);
  const cell = (name: RegExp) => within(screen.getByRole('row', { name })).getAllByRole('cell').at(-1)?.textContent;
  await screen.findByRole('row', { name: /\ba\b/ });
  expect([cell(/\ba\b/), cell(/\bb\b/), cell(/\bc\b/)]).toEqual(['0.5', 'NaN', '—']);

  await userEvent.click(screen.getByRole('button', { name: 'Columns' }));
  await userEvent.click(await screen.findByText('min(loss)'));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ metrics: ['last(loss)', 'min(loss)'] }));
  await userEvent.keyboard('{Escape}');
  expect(cell(/\ba\b/)).toBe('0.25');
  await userEvent.click(screen.getByRole('button', { name: /min\(loss\)/ }));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].sort_by).toMatch(/^metric:min\(loss\)/));
});

const fields = { statuses: ['Failed'], parameters: ['workers'], metrics: ['images/sec'], labels: ['team'] };

it('searches by status, experiment, parameter and metric, and completes names', async () => {
  const asked = answer({ runs: [run('a', {})], total_size: 1 });
  server.use(
    http.get('*/apis/argosy/v1/runs:fields', () => HttpResponse.json(fields)),
    http.get('*/apis/v1beta1/experiments', () => HttpResponse.json({ experiments: [{ id: 'e1', name: 'mine' }] })),
  );
  const router = renderAt('/', '/', Table);
  const line = await screen.findByPlaceholderText(/^status:failed/);
  await userEvent.type(line, 'work');
  await userEvent.click(await screen.findByText('workers='));
  await userEvent.type(line, '4 experiment:mine images/sec>10 team~x');
  await waitFor(() =>
    expect(asked.mock.calls.at(-1)?.[0]).toMatchObject({
      parameter: 'workers=4',
      metric: 'images/sec>10',
      label: 'team~x',
    }),
  );
  expect(JSON.parse(decodeURIComponent(asked.mock.calls.at(-1)?.[0].filter)).predicates).toEqual([
    { op: 'EQUALS', key: 'experiment_id', string_value: 'e1' },
  ]);
  expect(router.state.location.search).toMatchObject({ q: 'workers=4 experiment:mine images/sec>10 team~x' });

  await userEvent.clear(line);
  await userEvent.type(line, 'team>2');
  expect(await screen.findByText(/Character 1, team>2: labels are compared with/)).toBeTruthy();
});

it('searches by time, offers ages in words, and says what is no time', async () => {
  const asked = answer({ runs: [run('a', {})], total_size: 1 });
  server.use(http.get('*/apis/argosy/v1/runs:fields', () => HttpResponse.json(fields)));
  renderAt('/', '/', Table);
  const line = await screen.findByPlaceholderText(/^status:failed/);
  await userEvent.type(line, 'created>');
  await userEvent.click(await screen.findByText('created>7d: less than 7d ago'));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0]).toMatchObject({ time: 'created>7d' }));
  await userEvent.clear(line);
  await userEvent.type(line, 'x created>soon');
  expect(await screen.findByText(/^Character 3, created>soon: write how long ago/)).toBeTruthy();
});

it('shows the parameter columns that the URL names', async () => {
  answer({ runs: [run('a', { parameters: [{ name: 'workers', value: '4' }] })], total_size: 1 });
  renderAt('/?params=workers', '/', Table);
  const row = await screen.findByRole('row', { name: /\ba\b/ });
  expect(screen.getByRole('columnheader', { name: 'workers' })).toBeTruthy();
  expect(within(row).getByText('4')).toBeTruthy();
});

it('tells what an action would do to the chosen runs, does it where it can, and tells what became of each', async () => {
  answer({ runs: [run('a', {}), run('b', {})], total_size: 2 });
  const asked = vi.fn();
  server.use(
    http.post('*/apis/argosy/v1/runs:delete', async ({ request }) => {
      asked(await request.json());
      return HttpResponse.json({
        results: [
          { run_id: 'a', outcome: 'OUTCOME_DONE' },
          { run_id: 'b', outcome: 'OUTCOME_FAILED', message: 'b is being retried' },
        ],
      });
    }),
  );
  const router = renderAt('/', '/', Table);
  await userEvent.click(await screen.findByRole('checkbox', { name: 'Choose all runs on this page' }));
  expect(await screen.findByText('2 runs chosen')).toBeTruthy();
  expect(screen.getByRole('link', { name: 'Compare' }).getAttribute('href')).toContain('runs=a&runs=b');
  await waitFor(() => expect(router.state.location.search).toMatchObject({ chosen: ['a', 'b'] }));

  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  const dialog = await screen.findByRole('dialog');
  expect(await within(dialog).findByText(/b is being retried/)).toBeTruthy();
  await userEvent.click(within(dialog).getByRole('button', { name: 'Delete: 1' }));
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(2));
  expect(asked.mock.calls.map(([body]) => [body.run_ids, body.dry_run])).toEqual([
    [['a', 'b'], true],
    [['a'], false],
  ]);
});

it('keeps pinned runs on top of any order, and tells how far metrics are from the first', async () => {
  const base = run('base', { metrics: [metric('loss', 0.5)] });
  const asked = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/runs', ({ request }) => {
      const query = new URL(request.url).searchParams;
      asked(query.get('filter'));
      const pinned = query.get('filter') !== null;
      const listed = [
        run('a', { metrics: [metric('loss', 0.75)] }),
        base,
        run('b', { metrics: [metric('loss', 0.5)] }),
      ];
      return HttpResponse.json(pinned ? { runs: [base], total_size: 1 } : { runs: listed, total_size: 3 });
    }),
  );
  const router = renderAt('/?pins=base&sort=name', '/', Table);
  await screen.findByRole('button', { name: 'Unpin base, the baseline' });
  const names = () => screen.getAllByRole('link').map((link) => link.textContent);
  expect(names().filter((name) => ['a', 'b', 'base'].includes(name ?? ''))).toEqual(['base', 'a', 'b']);
  expect(within(screen.getByRole('row', { name: /\ba\b/ })).getByTitle('Difference from base').textContent).toBe(
    '+0.25',
  );
  expect(within(screen.getByRole('row', { name: /\bb\b/ })).getByTitle('Difference from base').textContent).toBe('±0');
  expect(asked).toHaveBeenCalledTimes(2);

  await userEvent.click(screen.getByRole('button', { name: 'Pin a to the top' }));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ pins: ['base', 'a'], sort: 'name' }));
});

it('groups all runs of the search by a parameter, and opens a group', async () => {
  const asked = vi.fn();
  answer({ runs: [run('a', {})], total_size: 1 });
  server.use(
    http.get(/runs:fields/, () => HttpResponse.json(fields)),
    http.get(/runs:group/, ({ request }) => {
      const query = new URL(request.url).searchParams;
      asked({ by: query.get('by'), of: query.getAll('of'), status: query.getAll('status') });
      const spread = { name: 'images/sec', runs: 3, mean: 100, deviation: 5, min: 95, max: 105 };
      return HttpResponse.json({
        groups: [{ value: '2', runs: 3, metrics: [spread] }, { runs: 1 }],
        total_size: 2,
      });
    }),
  );
  const router = renderAt('/?by=workers&status=Failed', '/', Table);
  const table = await screen.findByRole('table', { name: 'Runs by workers, 2 groups' });
  expect(asked).toHaveBeenCalledExactlyOnceWith({ by: 'workers', of: ['images/sec'], status: ['Failed'] });
  expect(within(table).getByText('± 5')).toBeTruthy();
  expect(within(table).getByText('95 to 105, 3 runs')).toBeTruthy();
  expect(within(table).getByText('without this parameter')).toBeTruthy();
  await userEvent.click(within(table).getByRole('button', { name: '2' }));
  await waitFor(() => expect(router.state.location.search).toEqual({ q: 'param:workers=2', status: 'Failed' }));
  expect(await screen.findByRole('row', { name: /\ba\b/ })).toBeTruthy();
});

it('saves what is shown as a view, opens it and removes it', async () => {
  localStorage.clear();
  answer({ runs: [run('a', {})], total_size: 1 });
  renderAt('/?status=Failed&pins=a&chosen=a', '/', Table);
  await userEvent.click(await screen.findByRole('button', { name: 'Views' }));
  await userEvent.type(await screen.findByLabelText('Name of this view'), 'my failures');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await userEvent.click(await screen.findByRole('button', { name: 'my failures' }));
  expect(JSON.parse(localStorage.getItem('argosy-run-views') ?? '')).toEqual([
    { name: 'my failures', search: '?status=Failed&pins=a' },
  ]);
  expect(await screen.findByRole('menuitem', { name: 'my failures' })).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Remove the view “my failures”' }));
  expect(await screen.findByRole('button', { name: 'Views' })).toBeTruthy();
});

it('shows labels as a column, and changes those of the chosen runs without touching others', async () => {
  const labels = { a: { team: 'red', keep: '1' }, b: { team: 'blue' } };
  answer({ runs: [run('a', { labels: labels.a }), run('b', { labels: labels.b })], total_size: 2 });
  const put = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/runs:fields', () => HttpResponse.json(fields)),
    http.get('*/apis/argosy/v1/runs/:id', ({ params }) =>
      HttpResponse.json(run(String(params.id), { labels: labels[params.id as 'a' | 'b'] })),
    ),
    http.put('*/apis/argosy/v1/runs/:id/labels', async ({ params, request }) => {
      put(params.id, await request.json());
      return HttpResponse.json({});
    }),
  );
  const router = renderAt('/', '/', Table);
  await userEvent.click(await screen.findByRole('button', { name: 'Columns' }));
  await userEvent.click(await screen.findByText('Labels'));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ labels: 'true' }));
  expect(await screen.findByText('team=red')).toBeTruthy();

  await userEvent.keyboard('{Escape}');
  await userEvent.click(screen.getByRole('checkbox', { name: 'Choose all runs on this page' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Labels' }));
  const dialog = await screen.findByRole('dialog', { name: 'Labels of 2 runs' });
  expect((await within(dialog).findByText('1 of 2 runs')).closest('li')?.textContent).toContain('keep=1');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Remove team' }));
  await userEvent.type(within(dialog).getByLabelText('Name'), '-x');
  expect(within(dialog).getByText(/^Use letters, digits/)).toBeTruthy();
  await userEvent.clear(within(dialog).getByLabelText('Name'));
  await userEvent.type(within(dialog).getByLabelText('Name'), 'example.com/goal');
  await userEvent.type(within(dialog).getByLabelText('Value'), 'speed{Enter}');
  await userEvent.click(within(dialog).getByRole('button', { name: 'Save labels' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(put.mock.calls).toEqual([
    ['a', { labels: { keep: '1', 'example.com/goal': 'speed' } }],
    ['b', { labels: { 'example.com/goal': 'speed' } }],
  ]);
});

it('keeps its rows while it is paused, counts the changes that wait, and shows them', async () => {
  const sources: Source[] = [];
  class Source extends EventTarget {
    constructor() {
      super();
      sources.push(this);
    }
    close() {}
  }
  vi.stubGlobal('EventSource', Source);
  const going = { status: 'Running', metrics: [metric('loss', 0.5)] };
  const later = { status: 'Running', metrics: [metric('loss', 0.25)] };
  answer(
    { runs: [run('a', going)], total_size: 1 },
    { runs: [run('b', { status: 'Running' }), run('a', later)], total_size: 2 },
  );
  renderAt('/', '/', Table);
  expect(await screen.findByText('0.5')).toBeTruthy();
  screen.getByText('Pause').closest('button')?.focus();
  await userEvent.keyboard('{Enter}');
  expect(screen.getByText('0 changes wait')).toBeTruthy();
  const tell = (one: object) =>
    act(() => void sources[0]?.dispatchEvent(new MessageEvent('run', { data: JSON.stringify(one) })));
  tell(run('a', later));
  expect(await screen.findByText('1 change waits')).toBeTruthy();
  tell(run('b', { status: 'Running' }));
  expect(await screen.findByText('2 changes wait', {}, { timeout: 5_000 })).toBeTruthy();
  expect(screen.getByText('0.5')).toBeTruthy();
  expect(screen.queryByText('b')).toBeNull();

  await userEvent.click(screen.getByText('Show'));
  expect(screen.getByText('b')).toBeTruthy();
  expect(screen.getByText('0.25')).toBeTruthy();
  expect(screen.getByText('0 changes wait')).toBeTruthy();
  tell(run('a', going));
  expect(await screen.findByText('1 change waits')).toBeTruthy();
  await userEvent.click(screen.getByText('Resume'));
  expect(screen.getByText('0.5')).toBeTruthy();
  vi.unstubAllGlobals();
});

it('draws bars in the columns of metrics, as shares of the greatest on the page', async () => {
  const runs = [4, -1, 2].map((value, i) => run(`r${i}`, { metrics: [metric('loss', value)] }));
  answer({ runs: [...runs, run('none', {})], total_size: 4 });
  server.use(http.get('*/apis/argosy/v1/runs:fields', () => HttpResponse.json(fields)));
  const router = renderAt('/', '/', Table);
  await userEvent.click(await screen.findByRole('button', { name: 'Columns' }));
  expect(screen.queryByTitle(/of the greatest/)).toBeNull();
  await userEvent.click(await screen.findByText('Bars of metrics'));
  await waitFor(() => expect(router.state.location.search).toMatchObject({ bars: 'true' }));
  const shares = screen.getAllByTitle(/of the greatest on this page/).map((bar) => bar.getAttribute('title'));
  expect(shares.map((title) => title?.split(' ')[0])).toEqual(['100%', '25%', '50%']);
});

/** The filter for runs that are shown in a state. */
const shownIn = (state: string) =>
  encodeFilter([{ op: 'IN', key: 'shown_status', string_values: { values: [state] } }]);

it('filters runs that wait, and says how statuses differ', async () => {
  const asked = answer({ runs: [run('a', {})], total_size: 1 });
  const router = renderAt('/', '/', Table);
  await userEvent.click(await screen.findByRole('button', { name: 'Filter by status' }));
  expect(await screen.findByRole('option', { name: /^Failed.*did not do its work/ })).toBeTruthy();
  expect(screen.getByRole('option', { name: /^Error.*could not be carried out/ })).toBeTruthy();
  await userEvent.click(screen.getByRole('option', { name: /^Waiting/ }));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0]).toMatchObject({ filter: shownIn('Waiting') }));
  expect(router.state.location.search).toMatchObject({ status: 'Waiting' });
});

it('says of a run that waits what it waits for, and does not call it running', async () => {
  const waiting = { node_id: 'n', step: 'train', why: 'secret "key" not found', steps: 1 };
  answer({
    runs: [run('a', { status: 'Running', waiting }), run('b', { status: 'Failed', waiting })],
    total_size: 2,
  });
  renderAt('/', '/', Table);
  const row = await screen.findByRole('row', { name: /\ba\b/ });
  expect(within(row).getByText('Waiting')).toBeTruthy();
  expect(within(row).getByText('Step “train” waits: secret "key" not found')).toBeTruthy();
  expect(within(row).queryByText('Running')).toBeNull();
  const ended = screen.getByRole('row', { name: /\bb\b/ });
  expect(within(ended).getByText('Failed')).toBeTruthy();
  expect(within(ended).queryByText(/waits/)).toBeNull();
});
