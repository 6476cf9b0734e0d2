import { useEffect, useState, useSyncExternalStore } from 'react';

/** The time, ticking every second while active; otherwise it stands still. */
export function useNow(active: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!active) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [active]);
  return now;
}

// One clock serves all relative times of a page: a list has hundreds.
let minute = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void) {
  listeners.add(listener);
  timer ??= setInterval(() => {
    minute = Date.now();
    for (const one of listeners) one();
  }, 10_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

function current() {
  // While nothing listens it stands still. A snapshot has to stay the same from one call to the next, hence the second.
  if (timer === undefined && Date.now() - minute > 1000) minute = Date.now();
  return minute;
}

/** The time, now and then: often enough for "5 minutes ago". */
export const useMinute = () => useSyncExternalStore(subscribe, current);
