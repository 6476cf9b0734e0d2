import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useLayoutEffect, useState } from 'react';

interface LongRowsProps {
  body: RefObject<HTMLTableSectionElement | null>;
  count: number;
  /** Draws the rows from one number to before another. */
  draw: (from: number, to: number) => ReactNode;
  /** Stands there until the window is measured. */
  start: ReactNode;
}

const rowHeight = 45;

/** The rows that are in view, with as much room before and after them as the others would take. */
export default function LongRows({ body, count, draw, start }: LongRowsProps) {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    setTop(body.current ? body.current.getBoundingClientRect().top + window.scrollY : 0);
  }, [body]);
  const virtual = useWindowVirtualizer({ count, estimateSize: () => rowHeight, overscan: 12, scrollMargin: top });
  const items = virtual.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  if (!first || !last) return start;
  return (
    <>
      {first.start > top && <tr aria-hidden style={{ height: first.start - top }} />}
      {draw(first.index, last.index + 1)}
      {virtual.getTotalSize() > last.end - top && (
        <tr aria-hidden style={{ height: virtual.getTotalSize() - (last.end - top) }} />
      )}
    </>
  );
}
