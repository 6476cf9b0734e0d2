import { VisuallyHidden } from '@mantine/core';
import { useSyncExternalStore } from 'react';

let message = '';
const listeners = new Set<() => void>();

/** Tells screen readers what has just happened. */
export function announce(text: string) {
  message = text;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Where announcements are spoken from; there is one on the page. */
export function Announcer() {
  const text = useSyncExternalStore(subscribe, () => message);
  return (
    <VisuallyHidden aria-live="polite" role="status">
      {text}
    </VisuallyHidden>
  );
}
