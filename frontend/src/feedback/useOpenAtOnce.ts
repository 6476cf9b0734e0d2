import { useEffect, useState } from 'react';

/** Whether a menu is open that was loaded by a press: it opens once its button is there, to which the focus returns. */
export function useOpenAtOnce() {
  const [opened, setOpened] = useState(false);
  useEffect(() => setOpened(true), []);
  return [opened, setOpened] as const;
}
