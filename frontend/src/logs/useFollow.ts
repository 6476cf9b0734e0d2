import { type RefObject, useEffect, useRef, useState } from 'react';
import type { VListHandle } from 'virtua';

// Nearer to the end than this counts as being there, in pixels.
const nearEnd = 28;

/** What of a list scrolls it. */
export type Scroller = Pick<VListHandle, 'scrollToIndex' | 'viewportSize' | 'scrollSize'>;

/** Scrolls along with a growing list until the reader scrolls up; scrolling to the end takes it up again. */
export function useFollow(list: RefObject<Scroller | null>, count: number, atFirst: boolean) {
  const [following, setFollowing] = useState(atFirst);
  const offset = useRef(0);

  useEffect(() => {
    if (following && count > 0) list.current?.scrollToIndex(count - 1, { align: 'end' });
  }, [following, count, list]);

  const onScroll = (to: number) => {
    const handle = list.current;
    if (!handle) return;
    const up = to < offset.current - 2;
    offset.current = to;
    const atEnd = to + handle.viewportSize >= handle.scrollSize - nearEnd;
    if (atEnd) setFollowing(true);
    // Only going up is the reader's doing: new lines move the end away, not the offset.
    else if (up) setFollowing(false);
  };

  return { following, onScroll, follow: () => setFollowing(true), pause: () => setFollowing(false) };
}
