import { useMemo, useSyncExternalStore } from 'react';
import { MergedLog, type MergedState } from './merged';
import { LogStream } from './stream';

// A log that is shown in two places is read once.
const streams = new Map<string, LogStream>();

function streamOf(url: string): LogStream {
  let stream = streams.get(url);
  if (!stream) {
    stream = new LogStream(url, () => streams.delete(url));
    streams.set(url, stream);
  }
  return stream;
}

/** The logs behind URLs, followed while they are on the page: one as it is, several by the times of their lines. */
export function useLog(urls: string[]): MergedState & { restart: () => void } {
  const key = urls.join('\n');
  const log = useMemo(() => {
    const all = key.split('\n').map(streamOf);
    return all.length === 1 && all[0] ? all[0] : new MergedLog(all);
  }, [key]);
  const state: MergedState = useSyncExternalStore(log.subscribe, log.snapshot as () => MergedState);
  return { ...state, restart: log.restart };
}
