import { type RefObject, useEffect, useRef, useState } from 'react';

// Charts are read and drawn a little before the reader scrolls to them.
const ahead = '300px';

/** Whether an element has been in view; what is never looked at costs nothing. */
export function useInView<T extends Element>(): [RefObject<T | null>, boolean] {
  const ref = useRef<T>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (!element || seen) return;
    const watcher = new IntersectionObserver(
      (entries) => entries.some((entry) => entry.isIntersecting) && setSeen(true),
      {
        rootMargin: ahead,
      },
    );
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [seen]);
  return [ref, seen];
}
