import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useMemo, useState } from 'react';
import { foundPage, type LogSource, logSearchQuery, type Place } from '../api/logs';
import { matches } from './search';

// Typing should not search at each key.
const typingPause = 300;
// A log that grows is searched again now and then.
const growing = 5_000;

interface Searched {
  lines: string[];
  /** How many lines come before the first of these. */
  before: number;
  /** Where the server finds the log. */
  source: LogSource | undefined;
  /** Of merged logs: which each line is of, and its number there. */
  of: number[] | undefined;
  numbers: number[] | undefined;
  ended: boolean;
  /** Brings a line into view, by its number from 1. */
  show: (number: number) => void;
}

/** The words searched for, in how many lines they are, and which of these is the current one. */
export function useSearch({ lines, before, source, of, numbers, ended, show }: Searched) {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState('');
  const [at, setAt] = useState(-1);
  const typed = text.trim();
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), typed ? typingPause : 0);
    return () => clearTimeout(timer);
  }, [typed]);

  const server = useQuery({
    ...logSearchQuery(source, asked, Math.floor(Math.max(at, 0) / foundPage), ended),
    placeholderData: keepPreviousData,
    refetchInterval: ended ? false : growing,
  });
  // Without the server the lines that are here are searched. Typing must not wait for it.
  const words = useDeferredValue(source ? '' : asked);
  const here = useMemo(() => matches(lines, words), [lines, words]);

  const found = source ? server.data : undefined;
  const place = found?.words === asked && at >= found.skip ? found.places[at - found.skip] : undefined;
  const row = useMemo(() => place && rowOf(place, of, numbers), [place, of, numbers]);
  const current = source
    ? (place && (of ? row !== undefined && before + row + 1 : place.line)) || undefined
    : at >= 0 && here[at] !== undefined
      ? before + (here[at] as number) + 1
      : undefined;
  const count = source ? (found?.words === asked ? found.total : undefined) : here.length;

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
    /** Unknown while the server searches. */
    count,
    at: count === undefined ? at : Math.min(at, count - 1),
    current,
    /** The place of the server's that is not held here: a line of merged logs that was dropped. */
    lost: of && place && row === undefined ? place : undefined,
    error: source ? server.error : null,
    setText: (value: string) => {
      setText(value);
      setAt(-1);
    },
    next: () => go(1),
    previous: () => go(-1),
  };
}

/** Where a line of one of several logs stands among the lines that are held; undefined where it does not. */
function rowOf({ log, line }: Place, of: number[] | undefined, numbers: number[] | undefined): number | undefined {
  const row = numbers?.findIndex((number, i) => number === line && of?.[i] === log) ?? -1;
  return row < 0 ? undefined : row;
}
