import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import LogView from './LogView';

const source = { runID: 'r', nodeID: 'n' };
const path = '*/apis/argosy/v1/runs/r/nodes/n/log';

/** A log that matches "loss" in each tenth line. */
function serve(lines: number) {
  const searched = vi.fn();
  server.use(
    http.get(`${path}\\:search`, ({ request }) => {
      const { searchParams } = new URL(request.url);
      searched(Object.fromEntries(searchParams));
      const all = Array.from({ length: Math.floor(lines / 10) }, (_, i) => (i + 1) * 10);
      const skip = Number(searchParams.get('skip'));
      const found = searchParams.get('q') === 'loss' ? all : [];
      return HttpResponse.json({ total: found.length, lines: found.slice(skip, skip + 1000), searched: lines });
    }),
    http.get(path, () =>
      HttpResponse.text(
        Array.from({ length: lines }, (_, i) => `line ${i + 1}${i % 10 === 9 ? ' loss' : ''}\n`).join(''),
      ),
    ),
  );
  renderAt('/', '/', () => <LogView step="train" urls={['/apis/argosy/v1/runs/r/nodes/n/log']} source={source} />);
  return searched;
}

it('has the server count what is searched for, and leads through it with the keyboard', async () => {
  const searched = serve(30_000);
  await screen.findByText('30,000 lines · End of the log');
  const field = screen.getByRole('textbox', { name: 'Search the log' });
  await userEvent.type(field, 'loss{Enter}');
  expect(await screen.findByText('1 of 3000')).toBeTruthy();
  await userEvent.type(field, '{Enter}');
  expect(await screen.findByText('2 of 3000')).toBeTruthy();
  await userEvent.type(field, '{Shift>}{Enter}{Enter}{/Shift}');
  expect(await screen.findByText('3000 of 3000')).toBeTruthy();
  // The last place is on the third page of places.
  await waitFor(() => expect(searched).toHaveBeenLastCalledWith({ q: 'loss', skip: '2000', most: '1000' }));
});

it('says that there is nothing, and why the server could not search', async () => {
  serve(20);
  await screen.findByText('20 lines · End of the log');
  const field = screen.getByRole('textbox', { name: 'Search the log' });
  await userEvent.type(field, 'gone');
  expect(await screen.findByText('No match')).toBeTruthy();
  server.use(http.get(`${path}\\:search`, () => HttpResponse.json({ message: 'the store is away' }, { status: 503 })));
  await userEvent.clear(field);
  await userEvent.type(field, 'other');
  expect(await screen.findByText('the store is away')).toBeTruthy();
});

it('shows lines that the page does not hold any more from the server', async () => {
  const asked = vi.fn();
  serve(10);
  server.use(
    http.get(`${path}\\:search`, () => HttpResponse.json({ total: 1, lines: [500], searched: 300_000 })),
    http.get(path, ({ request }) => {
      const { searchParams } = new URL(request.url);
      if (searchParams.get('format') !== 'json') {
        return HttpResponse.text(Array.from({ length: 300_000 }, () => 'x\n').join(''));
      }
      asked(searchParams.get('around'));
      return HttpResponse.json({ lines: [500, 501].map((n) => ({ n, text: `old ${n}` })) });
    }),
  );
  await screen.findByText('300,000 lines · End of the log');
  expect(screen.getByText(/^The first 100,000 lines are not kept here/)).toBeTruthy();
  await userEvent.type(screen.getByRole('textbox', { name: 'Search the log' }), 'old{Enter}');
  expect(await screen.findByText('Lines 500 to 501')).toBeTruthy();
  expect(asked).toHaveBeenCalledExactlyOnceWith('500');
  await userEvent.click(screen.getByRole('button', { name: 'Back to the end' }));
  expect(screen.queryByText('Lines 500 to 501')).toBeNull();
  expect(within(screen.getByRole('region', { name: 'Log of train' })).queryByText('old 500')).toBeNull();
});

it('has the server search merged logs, and leads to the lines by their logs', async () => {
  const asked = vi.fn();
  const at = (second: number, text: string) => `2026-01-01T00:00:0${second}Z ${text}\n`;
  server.use(
    http.get(path, ({ request }) =>
      HttpResponse.text(
        new URL(request.url).searchParams.get('pod') === 'w0'
          ? at(1, 'loss 3') + at(3, 'step')
          : at(2, 'start') + at(4, 'loss 1'),
      ),
    ),
    http.get(`${path}\\:search`, ({ request }) => {
      asked(new URL(request.url).searchParams.getAll('log'));
      const places = [
        { log: 0, line: 1 },
        { log: 1, line: 2 },
        { log: 1, line: 90 },
      ];
      return HttpResponse.json({ total: 3, places, searched: 94 });
    }),
  );
  const logs = ['w0', 'w1'].map((pod) => ({ pod, container: 'main', attempt: 1 }));
  const urls = logs.map(({ pod }) => `/apis/argosy/v1/runs/r/nodes/n/log?pod=${pod}`);
  const merged = { runID: 'r', nodeID: 'n', merged: logs };
  renderAt('/', '/', () => <LogView step="train" urls={urls} names={['worker 0', 'worker 1']} source={merged} />);
  await screen.findByText('4 lines · End of the log');
  const field = screen.getByRole('textbox', { name: 'Search the log' });
  await userEvent.type(field, 'loss{Enter}');
  expect(await screen.findByText('1 of 3')).toBeTruthy();
  await userEvent.type(field, '{Enter}');
  expect(await screen.findByText('2 of 3')).toBeTruthy();
  expect(asked).toHaveBeenCalledWith(['1/w0/main', '1/w1/main']);
  await userEvent.type(field, '{Enter}');
  expect(await screen.findByText(/^Line 90 of worker 1 is not kept on this page/)).toBeTruthy();
});
