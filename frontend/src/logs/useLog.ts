import { useMemo, useSyncExternalStore } from 'react';
import { MergedLines } from './merged';
import { type LogState, LogStream } from './stream';

// A log that is shown in two places is read once.
const streams = new Map<string, LogStream>();

function streamOf(url: string, merged: boolean): LogStream {
  let stream = streams.get(url);
  if (!stream) {
    stream = new LogStream(url, () => streams.delete(url), merged ? () => new MergedLines() : undefined);
    streams.set(url, stream);
  }
  return stream;
}

/** The log behind a URL, or the merge of several, followed while it is on the page. */
export function useLog(url: string, merged: boolean): LogState & { restart: () => void } {
  const log = useMemo(() => streamOf(url, merged), [url, merged]);
  const state = useSyncExternalStore(log.subscribe, log.snapshot);
  return { ...state, restart: log.restart };
}
