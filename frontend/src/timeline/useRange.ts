import { useCallback, useEffect, useRef, useState } from 'react';
import { readZoom, type ShowPatch } from '../runs/runSearch';
import { type Range, writeRange } from './view';

// A turn of the wheel is many changes, and browsers take only some changes of the address in a second.
const settleMs = 150;

/** The part of the timeline that is shown, kept in the address; undefined is all of it. */
export function useRange(kept: string | undefined, onShow: ShowPatch) {
  const [range, setRange] = useState<Range | undefined>(() => readZoom(kept));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setRange(readZoom(kept)), [kept]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const show = useCallback(
    (next: Range | undefined) => {
      setRange(next);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => onShow({ during: next && writeRange(next) }), settleMs);
    },
    [onShow],
  );
  return [range, show] as const;
}
