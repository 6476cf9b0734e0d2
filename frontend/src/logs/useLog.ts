import { useSyncExternalStore } from 'react';
import { LogStream } from './stream';

// A log that is shown in two places (as text and as a curve) is read once.
const streams = new Map<string, LogStream>();

function streamOf(url: string): LogStream {
  let stream = streams.get(url);
  if (!stream) {
    stream = new LogStream(url, () => streams.delete(url));
    streams.set(url, stream);
  }
  return stream;
}

/** The log behind a URL, followed while it is on the page. */
export function useLog(url: string) {
  const stream = streamOf(url);
  const state = useSyncExternalStore(stream.subscribe, stream.snapshot);
  return { ...state, restart: stream.restart };
}
