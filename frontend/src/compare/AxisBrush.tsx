import { type PointerEvent, useState } from 'react';
import type { Brush } from './brush';
import classes from './Compare.module.css';

type Range = Omit<Brush, 'key'>;

interface AxisBrushProps {
  x: number;
  /** Where the axis begins and ends in the picture, and the values that stand there. */
  top: number;
  bottom: number;
  low: number;
  high: number;
  range: Range | undefined;
  onRange: (range: Range | undefined) => void;
}

// A shorter drag is a press.
const shortest = 0.02;
const half = { drag: 18, shown: 9 };

/** Selects a range of an axis by a drag over it; a press clears it. The fields below do the same for the keyboard. */
export function AxisBrush({ x, top, bottom, low, high, range, onRange }: AxisBrushProps) {
  const [drag, setDrag] = useState<{ begun: number; now: number }>();
  // Five digits are as many as a hand can point at.
  const valueAt = (part: number) => Number((high - part * (high - low)).toPrecision(5));
  const partAt = (value: number) => Math.min(1, Math.max(0, (high - value) / (high - low)));
  const partOf = ({ clientY, currentTarget }: PointerEvent) => {
    const box = currentTarget.getBoundingClientRect();
    return box.height === 0 ? 0 : Math.min(1, Math.max(0, (clientY - box.top) / box.height));
  };
  const ends = drag
    ? [Math.min(drag.begun, drag.now), Math.max(drag.begun, drag.now)]
    : range && [partAt(range.to ?? high), partAt(range.from ?? low)];
  const [first = 0, last = 0] = ends ?? [];

  const finish = () => {
    if (!drag) return;
    setDrag(undefined);
    onRange(last - first < shortest ? undefined : { from: valueAt(last), to: valueAt(first) });
  };
  return (
    <>
      {ends && last >= first && (
        <rect
          x={x - half.shown}
          width={2 * half.shown}
          y={top + first * (bottom - top)}
          height={Math.max(2, (last - first) * (bottom - top))}
          className={classes.brush}
        />
      )}
      <rect
        x={x - half.drag}
        width={2 * half.drag}
        y={top}
        height={bottom - top}
        className={classes.brushable}
        data-brush
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture?.(event.pointerId);
          const part = partOf(event);
          setDrag({ begun: part, now: part });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, now: partOf(event) })}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(undefined)}
      />
    </>
  );
}
