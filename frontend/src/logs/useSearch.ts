import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { foundPage, type LogSource, logSearchQuery, type Place } from '../api/logs';
import { useTyped } from '../table/useTyped';
import { gone } from './merged';

// Typing should not search at each key.
const typingPause = 300;
// A log that grows is searched again now and then.
const growing = 5_000;

const none: Place[] = [];

interface Searched {
  /** Where the server finds the log. */
  source: LogSource;
  /** Where a line stands among all, from 1; undefined when it has not come yet. */
  numberOf: (place: Place) => number | undefined;
  ended: boolean;
  /** Brings a line into view, by its number from 1. */
  show: (number: number) => void;
  /** What is searched for, where it is kept. */
  kept: string;
  keep: (words: string) => void;
}

/** The words searched for, in how many lines they are, and which of these is the current one. */
export function useSearch({ source, numberOf, ended, show, kept, keep }: Searched) {
  const { text, setText, sent } = useTyped(kept);
  const [asked, setAsked] = useState(kept.trim());
  const [at, setAt] = useState(-1);
  const typed = text.trim();
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), typed ? typingPause : 0);
    return () => clearTimeout(timer);
  }, [typed]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: only other words are kept
  useEffect(() => {
    if (asked === kept) return;
    sent(asked);
    keep(asked);
  }, [asked]);

  const server = useQuery({
    ...logSearchQuery(source, asked, Math.floor(Math.max(at, 0) / foundPage), ended),
    placeholderData: keepPreviousData,
    refetchInterval: ended ? false : growing,
  });
  const found = server.data;
  const place = found?.words === asked && at >= found.skip ? found.places[at - found.skip] : undefined;
  const number = useMemo(() => place && numberOf(place), [place, numberOf]);
  const current = number === gone ? undefined : number;
  const count = found?.words === asked ? found.total : undefined;

  // biome-ignore lint/correctness/useExhaustiveDependencies: only another place moves the view
  useEffect(() => {
    if (current !== undefined) show(current);
  }, [current]);

  const go = (step: 1 | -1) => {
    if (typed === '') return;
    if (asked !== typed) {
      // Enter may come before the pause after typing has passed.
      setAsked(typed);
      setAt(0);
      return;
    }
    if (!count) return;
    setAt(at < 0 ? (step > 0 ? 0 : count - 1) : (at + step + count) % count);
  };
  return {
    text,
    /** The words to mark. */
    words: asked,
    /** The matches around the current one. */
    places: found?.words === asked ? found.places : none,
    /** Unknown while the server searches. */
    count,
    at: count === undefined ? at : Math.min(at, count - 1),
    current,
    /** The place of the server's that is not held here: a line of merged logs that was dropped. */
    lost: place && (number === gone || (number === undefined && ended)) ? place : undefined,
    error: server.error,
    setText: (value: string) => {
      setText(value);
      setAt(-1);
    },
    next: () => go(1),
    previous: () => go(-1),
  };
}
