import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { describe, expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import LogView, { type LogViewProps } from './LogView';

const source = { runID: 'r', nodeID: 'n' };
const path = '*/apis/argosy/v1/runs/r/nodes/n/log';

const show = (props: Partial<LogViewProps> = {}, at = '/') =>
  renderAt(at, '/', () => <LogView step="train" source={source} onShow={() => undefined} {...props} />);

/** A log that matches "loss" in each tenth line. */
function serve(lines: number, props: Partial<LogViewProps> = {}) {
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
  show(props);
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

/** A log of more lines than the page holds, whose lines around one the server gives. */
function serveLong() {
  const searched = vi.fn();
  server.use(
    http.get(`${path}\\:search`, ({ request }) => {
      searched(Object.fromEntries(new URL(request.url).searchParams));
      return HttpResponse.json({ total: 1, lines: [500], searched: 300_000 });
    }),
    http.get(path, ({ request }) =>
      new URL(request.url).searchParams.get('format') === 'json'
        ? HttpResponse.json({ lines: [500, 501].map((n) => ({ n, text: `old ${n}` })) })
        : HttpResponse.text(Array.from({ length: 300_000 }, () => 'x\n').join('')),
    ),
  );
  return searched;
}

it('jumps to the first error, which the server finds, also in lines that the page does not hold any more', async () => {
  const searched = serveLong();
  const router = show();
  await screen.findByText('300,000 lines · End of the log');
  await userEvent.click(screen.getByRole('button', { name: 'Jump to the first error' }));
  expect(await screen.findByText('Lines 500 to 501')).toBeTruthy();
  expect(searched).toHaveBeenCalledExactlyOnceWith({ errors: 'true', most: '1' });
  expect(router.state.location.hash).toBe('L500');
});

it('keeps what is searched for and the wrapping of lines where it is told to, and begins with them', async () => {
  const onShow = vi.fn();
  const searched = serve(20, { find: 'loss', wrap: 'off', onShow });
  expect(await screen.findByText('– of 2')).toBeTruthy();
  expect(searched).toHaveBeenCalledWith({ q: 'loss', skip: '0', most: '1000' });
  expect(onShow).not.toHaveBeenCalled();
  const field = screen.getByRole('textbox', { name: 'Search the log' });
  await userEvent.type(field, 'es{Enter}');
  expect(onShow).toHaveBeenLastCalledWith({ find: 'losses' });
  await userEvent.clear(field);
  await waitFor(() => expect(onShow).toHaveBeenLastCalledWith({ find: undefined }));
  const wrap = screen.getByRole('button', { name: 'Wrap long lines' });
  expect(wrap.getAttribute('aria-pressed')).toBe('false');
  await userEvent.click(wrap);
  expect(onShow).toHaveBeenLastCalledWith({ wrap: undefined });
});

describe('several logs', () => {
  const merged = ['w0', 'w1'].map((pod) => ({ pod, container: 'main', attempt: 1 }));
  const nameOf = (log: string) => `worker ${log.charAt(3)}`;
  const props = { source: { ...source, merged }, nameOf };

  function serveMerged() {
    const asked = vi.fn();
    const searched = vi.fn();
    server.use(
      http.get(`${path}\\:merge`, ({ request }) => {
        asked(new URL(request.url).search);
        const lines = [
          ...merged.map((log) => ({ log })),
          { of: 0, n: 1, text: 'loss 3' },
          { of: 1, n: 1, text: 'start' },
          { of: 0, n: 2, text: 'step' },
          { of: 1, n: 2, text: 'loss 1' },
        ];
        return new HttpResponse(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
      }),
      http.get(`${path}\\:search`, ({ request }) => {
        const { searchParams } = new URL(request.url);
        searched(searchParams.getAll('log'), searchParams.get('all'));
        const places = [
          { log: 0, line: 1 },
          { log: 1, line: 2 },
          { log: 1, line: 90 },
        ];
        const logs = searchParams.has('all') ? merged : undefined;
        return HttpResponse.json({ total: 3, places, searched: 94, logs });
      }),
    );
    return { asked, searched };
  }

  it('are one request, are searched by the server, and lead to the lines by their logs', async () => {
    const { asked, searched } = serveMerged();
    show(props);
    await screen.findByText('4 lines · End of the log');
    expect(asked).toHaveBeenCalledExactlyOnceWith('?follow=true&format=json&log=1%2Fw0%2Fmain&log=1%2Fw1%2Fmain');
    const field = screen.getByRole('textbox', { name: 'Search the log' });
    await userEvent.type(field, 'loss{Enter}');
    expect(await screen.findByText('1 of 3')).toBeTruthy();
    await userEvent.type(field, '{Enter}');
    expect(await screen.findByText('2 of 3')).toBeTruthy();
    expect(searched).toHaveBeenCalledWith(['1/w0/main', '1/w1/main'], null);
    await userEvent.type(field, '{Enter}');
    expect(await screen.findByText(/^Line 90 of worker 1 is not kept on this page/)).toBeTruthy();
  });

  it('are asked for without their names when all are meant, and are downloaded as one', async () => {
    const { asked, searched } = serveMerged();
    const router = show({ ...props, source: { ...source, merged: 'all' } });
    await screen.findByText('4 lines · End of the log');
    expect(asked).toHaveBeenCalledExactlyOnceWith('?follow=true&format=json');
    const download = screen.getByRole('link', { name: 'Download the log' });
    expect(download.getAttribute('href')).toMatch(/nodes\/n\/log:merge\?timestamps=true$/);
    await userEvent.click(screen.getByRole('button', { name: 'Jump to the first error' }));
    await waitFor(() => expect(router.state.location.hash).toBe('L1@1/w0/main'));
    expect(searched).toHaveBeenCalledWith([], 'true');
  });

  it('stand beside each other, each with its own lines, when they are told to', async () => {
    const { asked } = serveMerged();
    const onShow = vi.fn();
    show({ ...props, side: 'on', onShow });
    await screen.findByText('4 lines · End of the log');
    for (const name of ['worker 0', 'worker 1']) {
      expect(screen.getByRole('region', { name: `Log of ${name}` })).toBeTruthy();
    }
    expect(screen.queryByRole('region', { name: 'Log of train' })).toBeNull();
    expect(asked).toHaveBeenCalledOnce();
    await userEvent.click(screen.getByRole('button', { name: 'Side by side', pressed: true }));
    expect(onShow).toHaveBeenLastCalledWith({ side: undefined });
  });

  it('say of a link to a line that is not held where it is, and show that log alone', async () => {
    serveMerged();
    const router = show(props, '/#L90@1/w1/main');
    await userEvent.click(await screen.findByRole('button', { name: 'Show this log alone' }));
    await waitFor(() => expect(router.state.location).toMatchObject({ hash: 'L90', search: { logs: '1/w1/main' } }));
  });
});
