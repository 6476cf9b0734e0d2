import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { type ReactElement, useState } from 'react';
import { expect, it, vi } from 'vitest';
import type { Run } from '../api/client';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { LogsTab } from './LogsTab';
import type { RunSearch } from './runSearch';

// There is no layout: a list that draws what is in view would draw nothing.
vi.mock('virtua', () => ({
  VList: ({ data, children, 'aria-label': label }: Listed) => (
    <section aria-label={label}>{data.map(children)}</section>
  ),
}));

interface Listed {
  data: unknown[];
  children: (item: unknown, index: number) => ReactElement;
  'aria-label': string;
}

const run = {
  id: 'r1',
  name: 'nightly',
  status: 'Running',
  nodes: [
    { id: 'load', display_name: 'load', type: 'Pod', phase: 'Succeeded', has_log: true },
    { id: 'train', display_name: 'train', type: 'Pod', phase: 'Running', has_log: true },
    { id: 'dag', display_name: 'nightly', type: 'DAG', phase: 'Running' },
  ],
} as Run;

const log = (node_id: string, rest: object = {}) => ({
  node_id,
  step: node_id,
  attempt: 1,
  pod: `${node_id}-pod`,
  container: 'main',
  restart: 0,
  ...rest,
});

/** The merge of a run that goes on: what it gives at first, and a way to give more. */
function serve() {
  const asked: string[] = [];
  let send: (lines: object[]) => void = () => undefined;
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/log\\:merge', ({ request }) => {
      asked.push(new URL(request.url).search);
      const body = new ReadableStream<Uint8Array>({
        start(more) {
          send = (lines) =>
            more.enqueue(new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
          send([{ log: log('load') }, { of: 0, n: 1, text: 'loaded' }]);
        },
      });
      return new HttpResponse(body);
    }),
    http.get('*/apis/argosy/v1/runs/r1/log\\:search', () =>
      HttpResponse.json({ total: 7, places: [{ log: 1, line: 1 }], logs: [log('load'), worker], searched: 9 }),
    ),
    http.get('*/apis/argosy/v1/runs/r1/nodes/load/logs', () => HttpResponse.json({ logs: [log('load')] })),
    http.get('*/apis/argosy/v1/runs/r1/nodes/load/log', () => HttpResponse.text('of load alone\n')),
  );
  return { asked, send: (...lines: object[]) => send(lines) };
}

const worker = log('train', { pod: 'w3', container: 'worker', role: 'worker', rank: 3 });

function show(first: RunSearch = { tab: 'logs' }) {
  const onShow = vi.fn();
  function Page() {
    const [search, setSearch] = useState(first);
    return (
      <LogsTab
        run={run}
        search={search}
        onShow={(patch) => {
          onShow(patch);
          setSearch((old) => ({ ...old, ...patch }));
        }}
      />
    );
  }
  renderAt('/', '/', Page);
  return onShow;
}

it('shows the log of the whole run, each line with its step and rank, and takes in steps that begin later', async () => {
  const { asked, send } = serve();
  show();
  await screen.findByText('1 line · Following the log');
  const text = screen.getByRole('region', { name: 'Log of nightly' });
  expect(text.textContent).toContain('1loadloaded');
  send({ log: worker }, { of: 1, n: 1, text: 'epoch 1' });
  await screen.findByText('2 lines · Following the log');
  expect(text.textContent).toContain('1train · worker 3epoch 1');
  const colour = (tag: string) => within(text).getByTitle(tag).style.color;
  expect(colour('train · worker 3')).not.toBe(colour('load'));
  expect(asked).toEqual(['?follow=true&format=json&ranks=true']);
  expect(screen.getByRole('link', { name: 'Download the log' }).getAttribute('href')).toBe(
    '/apis/argosy/v1/runs/r1/log:merge?timestamps=true&ranks=true',
  );
});

it('counts what is searched for in the whole run, and leads to it', async () => {
  const { send } = serve();
  show();
  await screen.findByText('1 line · Following the log');
  send({ log: worker }, { of: 1, n: 1, text: 'epoch 1' });
  await userEvent.type(screen.getByRole('textbox', { name: 'Search the log' }), 'epoch{Enter}');
  expect(await screen.findByText('1 of 7')).toBeTruthy();
  await waitFor(() => expect(screen.getByText('epoch').closest('[data-current]')).toBeTruthy());
});

it('offers the whole run first, then its steps, and has an address for each', async () => {
  serve();
  const onShow = show();
  await screen.findByText('1 line · Following the log');
  await userEvent.click(screen.getByRole('combobox', { name: 'Whole run or a step' }));
  const options = await screen.findAllByRole('option');
  expect(options.map(({ textContent }) => textContent)).toEqual(['Whole run', 'load', 'train']);
  await userEvent.click(options[1] as HTMLElement);
  expect(onShow).toHaveBeenLastCalledWith({ node: 'load', logs: undefined, side: undefined });
  expect(await screen.findByText('of load alone')).toBeTruthy();
  await userEvent.click(screen.getByRole('combobox', { name: 'Whole run or a step' }));
  await userEvent.click(await screen.findByRole('option', { name: 'Whole run' }));
  expect(onShow).toHaveBeenLastCalledWith({ node: undefined, logs: undefined, side: undefined });
  expect(await screen.findByText('loaded')).toBeTruthy();
});
