import { type RefObject, useEffect, useRef, useState } from 'react';
import { drawn, type Range, zoomed } from './view';

interface Lane {
  view: Range;
  /** Of the run, in seconds. */
  length: number;
  onView: (range: Range | undefined) => void;
}

// A press that moves less is a click.
const leastPixels = 4;

/**
 * Zooms a table by the pointer: a drag over its lanes shows what was drawn over, the wheel with Ctrl zooms where the pointer is,
 * and a double click shows all. Gives where the drag is now, as shares of the lane.
 */
export function useLaneGestures(table: RefObject<HTMLElement | null>, lane: Lane) {
  const [drag, setDrag] = useState<[number, number]>();
  const now = useRef(lane);
  now.current = lane;
  useEffect(() => {
    const element = table.current;
    if (!element) return;
    let box: DOMRect | undefined;
    let first = 0;
    const share = (event: MouseEvent) => clamp((event.clientX - (box?.left ?? 0)) / (box?.width || 1));
    const place = (part: number) => {
      const [from, to] = now.current.view;
      return from + part * (to - from);
    };
    const onMove = (event: PointerEvent) => setDrag([first, share(event)]);
    const end = (event: PointerEvent) => {
      stop();
      const last = share(event);
      if (event.type === 'pointerup' && Math.abs(last - first) * (box?.width ?? 0) >= leastPixels) {
        now.current.onView(drawn(place(first), place(last), now.current.length));
      }
    };
    const stop = () => {
      setDrag(undefined);
      window.removeEventListener('pointermove', onMove);
      window.removeEventListener('pointerup', end);
      window.removeEventListener('pointercancel', end);
    };
    const onDown = (event: PointerEvent) => {
      box = laneOf(event)?.getBoundingClientRect();
      // A finger scrolls the page.
      if (!box || event.button !== 0 || event.pointerType === 'touch') return;
      event.preventDefault();
      first = share(event);
      window.addEventListener('pointermove', onMove);
      window.addEventListener('pointerup', end);
      window.addEventListener('pointercancel', end);
    };
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      box = laneOf(event)?.getBoundingClientRect();
      if (!box) return;
      // Else the browser would zoom the page.
      event.preventDefault();
      const { view, length, onView } = now.current;
      onView(zoomed(view, length, event.deltaY < 0 ? 0.8 : 1.25, place(share(event))));
    };
    const onDouble = (event: MouseEvent) => laneOf(event) && now.current.onView(undefined);
    element.addEventListener('pointerdown', onDown);
    element.addEventListener('wheel', onWheel, { passive: false });
    element.addEventListener('dblclick', onDouble);
    return () => {
      stop();
      element.removeEventListener('pointerdown', onDown);
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('dblclick', onDouble);
    };
  }, [table]);
  return drag;
}

const laneOf = ({ target }: Event) => (target instanceof Element ? target.closest('[data-lane]') : null);

const clamp = (share: number) => Math.min(1, Math.max(0, share));
