import { useSearch } from '@tanstack/react-router';
import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { readListSearch } from '../api/list';
import { many } from '../api/url';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { RunsTable } from './RunsTable';

const run = (id: string, rest: object) => ({ id, name: id, status: 'Succeeded', ...rest });
const metric = (name: string, value: number) => ({ name, value, node_id: 'n', format: 'RAW' });

function Table() {
  const raw = useSearch({ strict: false }) as Record<string, unknown>;
  return <RunsTable search={{ ...readListSearch(raw), status: many(raw.status), metrics: many(raw.metrics) }} />;
}

function answer(...pages: object[]) {
  const asked = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/runs', ({ request }) => {
      asked(Object.fromEntries(new URL(request.url).searchParams));
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
  expect(within(screen.getByRole('row', { name: /^a/ })).getByText('189.6')).toBeTruthy();
});

it('shows only the metric columns that the URL names, and says when a step was not the only one', async () => {
  answer({ runs: [run('a', { metrics: [metric('x', 1), metric('y', 2), metric('y', 3)] })], total_size: 1 });
  renderAt('/?metrics=y', '/', Table);
  const row = await screen.findByRole('row', { name: /^a/ });
  expect(within(row).getByText('and 1 more')).toBeTruthy();
  expect(screen.queryByRole('columnheader', { name: 'x' })).toBeNull();
});

it('asks the server for what the URL says, and writes what is chosen into the URL', async () => {
  const asked = answer({ runs: [run('a', {})], total_size: 40, next_page_token: 'T2' });
  const router = renderAt('/?q=mpi&status=Failed&status=Error&size=10', '/', Table);
  await screen.findByRole('row', { name: /^a/ });
  const first = asked.mock.calls[0]?.[0];
  expect(first.page_size).toBe('10');
  expect(JSON.parse(decodeURIComponent(first.filter)).predicates).toEqual([
    { op: 'IS_SUBSTRING', key: 'name', string_value: 'mpi' },
    { op: 'IN', key: 'status', string_values: { values: ['Failed', 'Error'] } },
  ]);

  await userEvent.click(screen.getByRole('button', { name: 'Next page' }));
  await vi.waitFor(() => expect(asked.mock.calls.at(-1)?.[0].page_token).toBe('T2'));
  expect(router.state.location.search).toMatchObject({ q: 'mpi', token: 'T2', page: '2' });

  await userEvent.click(screen.getByRole('button', { name: 'Previous page' }));
  await vi.waitFor(() => expect(router.state.location.search).not.toHaveProperty('token', 'T2'));

  await userEvent.click(screen.getByRole('button', { name: 'Name' }));
  await vi.waitFor(() => expect(asked.mock.calls.at(-1)?.[0].sort_by).toBe('name desc'));
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
  expect(await screen.findByRole('row', { name: /^a/ })).toBeTruthy();
});
