import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { shownStatus } from '../status/status';
import type { Page, Run, Schema } from './client';
import { encodeFilter } from './list';
import { type RunsScope, scopeFilter } from './runs';

export type Point = Schema['argosy.v1.Point'];

// A burst of changes, such as a sweep that begins, reads the lists once.
const restMs = 1_000;
const retryMs = 5_000;

/** Takes the values of metrics that all runs print from now on. */
type TakePoints = (points: Point[]) => void;

/** Keeps every list of runs on the page up to date by server-sent events: rows change in place, and lists are read anew for others. */
export function useRunsEvents(scope: RunsScope = {}, onPoints?: TakePoints) {
  const client = useQueryClient();
  const { experimentID, scheduleID } = scope;
  const filter = encodeFilter(scopeFilter(scope));
  const takePoints = useRef(onPoints);
  takePoints.current = onPoints;
  const withPoints = onPoints !== undefined;
  useEffect(() => {
    if (typeof EventSource === 'undefined') return;
    const query = new URLSearchParams();
    if (experimentID) query.set('experiment_id', experimentID);
    if (scheduleID) query.set('schedule_id', scheduleID);
    if (filter) query.set('filter', filter);
    if (withPoints) query.set('points', 'true');
    let source: EventSource | undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let rest: ReturnType<typeof setTimeout> | undefined;
    let lost = false;

    const readAnew = () => {
      rest ??= setTimeout(() => {
        rest = undefined;
        void client.invalidateQueries({ queryKey: ['runs'] });
      }, restMs);
    };
    const connect = () => {
      source = new EventSource(`/apis/argosy/v1/events?${query}`);
      source.addEventListener('ready', () => {
        // The stream does not repeat what changed while the page did not listen.
        if (lost) readAnew();
        lost = false;
      });
      source.addEventListener('run', (event) => {
        if (!replaceRun(client, JSON.parse(event.data) as Run)) readAnew();
      });
      source.addEventListener('points', (event) => {
        takePoints.current?.((JSON.parse(event.data) as Schema['argosy.v1.Points']).points ?? []);
      });
      source.addEventListener('removed', readAnew);
      source.addEventListener('reset', readAnew);
      source.onerror = () => {
        lost = true;
        if (source?.readyState === EventSource.CLOSED) retry = setTimeout(connect, retryMs);
      };
    };
    connect();
    return () => {
      clearTimeout(retry);
      clearTimeout(rest);
      source?.close();
    };
  }, [client, experimentID, scheduleID, filter, withPoints]);
}

/** Puts a run in its row in all lists that show it; whether nothing else can have changed in them, as its status is the same. */
function replaceRun(client: QueryClient, run: Run): boolean {
  let settled = false;
  client.setQueriesData({ queryKey: ['runs'] }, (held: Page<Run> | Run[] | undefined) => {
    if (!held) return held;
    const items = Array.isArray(held) ? held : held.items;
    if (!Array.isArray(items)) return held;
    const before = items.find(({ id }) => id === run.id);
    if (!before) return held;
    settled ||= shownStatus(before) === shownStatus(run) && before.archived === run.archived;
    const changed = items.map((item) => (item.id === run.id ? run : item));
    return Array.isArray(held) ? changed : { ...held, items: changed };
  });
  return settled;
}
