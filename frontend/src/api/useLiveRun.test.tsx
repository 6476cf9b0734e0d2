import { act, screen, waitFor } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { useLiveRun } from './useLiveRun';

/** Stands for the browser's EventSource, which happy-dom lacks; the tests speak as the server. */
class Source extends EventTarget {
  static readonly CLOSED = 2;
  static opened: Source[] = [];
  readyState = 1;
  onopen?: () => void;
  onerror?: () => void;
  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
    Source.opened.push(this);
  }

  close() {
    this.readyState = Source.CLOSED;
  }

  say(event: string, data?: object) {
    act(() => void this.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data) })));
  }
}

beforeEach(() => {
  Source.opened = [];
  vi.stubGlobal('EventSource', Source);
  server.use(
    http.get('*/apis/argosy/v1/runs/r1', () => HttpResponse.json({ id: 'r1', name: 'r1', status: 'Pending' })),
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function Probe() {
  const { data, liveness } = useLiveRun('r1');
  return (
    <p data-testid="run">
      {data?.status} {liveness}
    </p>
  );
}

const text = () => screen.getByTestId('run').textContent;

it('follows the run until the server says that nothing more will come', async () => {
  renderAt('/', '/', Probe);
  await waitFor(() => expect(text()).toBe('Pending connecting'));
  const [source] = Source.opened;
  expect(source?.url).toBe('/apis/argosy/v1/runs/r1/events');
  act(() => source?.onopen?.());
  source?.say('run', { id: 'r1', status: 'Running' });
  await waitFor(() => expect(text()).toBe('Running live'));
  source?.say('run', { id: 'r1', status: 'Succeeded' });
  source?.say('end');
  await waitFor(() => expect(text()).toBe('Succeeded ended'));
  expect(source?.readyState).toBe(Source.CLOSED);
});

it('keeps what an event says, and takes no older answer that is still on its way', async () => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  server.use(
    http.get('*/apis/argosy/v1/runs/r1', async () => {
      await held;
      return HttpResponse.json({ id: 'r1', name: 'r1', status: 'Pending' });
    }),
  );
  const asked = vi.spyOn(globalThis, 'fetch');
  renderAt('/', '/', Probe);
  await waitFor(() => expect(asked).toHaveBeenCalled());
  const [source] = Source.opened;
  source?.say('run', { id: 'r1', status: 'Succeeded' });
  source?.say('end');
  await waitFor(() => expect(text()).toBe('Succeeded ended'));
  const [request] = asked.mock.calls[0] as [Request];
  expect(request.signal.aborted).toBe(true);
  answer();
});

it('connects again when the server refused, and says so meanwhile', async () => {
  renderAt('/', '/', Probe);
  await waitFor(() => expect(Source.opened).toHaveLength(1));
  vi.useFakeTimers();
  const [source] = Source.opened as [Source];
  source.close();
  act(() => source.onerror?.());
  expect(text()).toContain('retrying');
  act(() => void vi.advanceTimersByTime(1_000));
  expect(Source.opened).toHaveLength(2);
});
