import { type RefObject, useEffect, useState } from 'react';

/** Whether a box holds more than it shows side by side, so that it must be scrolled: the keyboard then needs a way into it. */
export function useOverflow(box: RefObject<HTMLElement | null>): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element || typeof ResizeObserver === 'undefined') return;
    const look = new ResizeObserver(() => setOver(element.scrollWidth > element.clientWidth));
    look.observe(element);
    for (const child of element.children) look.observe(child);
    return () => look.disconnect();
  }, [box]);
  return over;
}
