import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import type { Run } from './client';
import { runQuery } from './runs';

/** How the page hears of changes: still connecting, live, trying again, or nothing more will come. */
export type Liveness = 'connecting' | 'live' | 'retrying' | 'ended';

const firstRetry = 1_000;
const lastRetry = 15_000;

/** A run, kept up to date by server-sent events until it ends. Lost connections are made again; one that ended, by reconnect. */
export function useLiveRun(id: string) {
  const client = useQueryClient();
  const [liveness, setLiveness] = useState<Liveness>('connecting');
  const [round, setRound] = useState(0);
  const query = useQuery(runQuery(id));
  // A run that cannot be read has no events either; retrying the read brings them back.
  const readable = !query.isError;

  // biome-ignore lint/correctness/useExhaustiveDependencies: another round connects again
  useEffect(() => {
    if (!readable) return;
    setLiveness('connecting');
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wait = firstRetry;

    const connect = () => {
      source = new EventSource(`/apis/argosy/v1/runs/${encodeURIComponent(id)}/events`);
      source.onopen = () => {
        wait = firstRetry;
        setLiveness('live');
      };
      source.addEventListener('run', (event) => {
        const { queryKey } = runQuery(id);
        // An answer that is still on its way is older than this, and would take its place.
        void client.cancelQueries({ queryKey, exact: true });
        client.setQueryData(queryKey, JSON.parse(event.data) as Run);
      });
      source.addEventListener('end', () => {
        source?.close();
        setLiveness('ended');
      });
      source.onerror = () => {
        setLiveness('retrying');
        // The browser reconnects by itself unless the server refused; then it is up to us.
        if (source?.readyState === EventSource.CLOSED) {
          timer = setTimeout(connect, wait);
          wait = Math.min(wait * 2, lastRetry);
        }
      };
    };
    connect();
    return () => {
      clearTimeout(timer);
      source?.close();
    };
  }, [id, client, readable, round]);

  return { ...query, liveness, reconnect: useCallback(() => setRound((before) => before + 1), []) };
}
