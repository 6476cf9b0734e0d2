import { HttpResponse, http } from 'msw';
import { describe, expect, it, vi } from 'vitest';
import { server } from '../test/server';
import { LogStream } from './stream';

const url = `${location.origin}/log`;

/** Subscribes, and waits until the log is in the phase. */
async function until(stream: LogStream, phase: string) {
  let leave = () => {};
  await new Promise<void>((resolve) => {
    leave = stream.subscribe(() => stream.snapshot().phase === phase && resolve());
  });
  return leave;
}

describe('LogStream', () => {
  it('shows what has come while more may come', async () => {
    let more: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        more = controller;
        // A character cut in two is one character.
        controller.enqueue(new TextEncoder().encode('first\n准').slice(0, 8));
      },
    });
    server.use(http.get(url, () => new HttpResponse(body)));
    const stream = new LogStream(url);
    const leave = await until(stream, 'open');
    expect(stream.snapshot().lines).toEqual(['first']);
    const ended = until(stream, 'ended');
    more?.enqueue(new TextEncoder().encode('准').slice(2));
    more?.close();
    const leaveToo = await ended;
    expect(stream.snapshot().lines).toEqual(['first', '准']);
    leave();
    leaveToo();
  });

  it('says in the words of the server why there is no log, and does not ask again', async () => {
    const asked = vi.fn(() => HttpResponse.json({ error: 'step x has no log', code: 5 }, { status: 404 }));
    server.use(http.get(url, asked));
    const stream = new LogStream(url);
    const leave = await until(stream, 'failed');
    expect(stream.snapshot().problem?.message).toBe('step x has no log');
    leave();
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it('counts from the line that the server begins with', async () => {
    server.use(
      http.get(url, () => HttpResponse.text('a\n::group::b\nc\n', { headers: { 'Argosy-First-Line': '801' } })),
    );
    const stream = new LogStream(url);
    const leave = await until(stream, 'ended');
    expect(stream.snapshot()).toMatchObject({ dropped: 800, lines: ['a', '::group::b', 'c'], groups: [{ at: 802 }] });
    leave();
  });

  it('reports when the last listener leaves', async () => {
    server.use(http.get(url, () => HttpResponse.text('a\n')));
    const idle = vi.fn();
    const stream = new LogStream(url, idle);
    (await until(stream, 'ended'))();
    expect(idle).toHaveBeenCalledOnce();
  });
});
