import { type RefObject, useEffect, useRef } from 'react';

/** Something that can be done on the page that is shown. */
export interface Act {
  key: string;
  label: string;
  /** What it is done to. */
  to: string;
  act: () => void;
}

const offers = new Set<RefObject<Act[]>>();

/** Offers acts in the palette while a component is shown. */
export function useActs(acts: Act[]) {
  const offer = useRef(acts);
  offer.current = acts;
  useEffect(() => {
    offers.add(offer);
    return () => void offers.delete(offer);
  }, []);
}

/** What the page offers at the moment. */
export const actsOffered = (): Act[] => [...offers].flatMap(({ current }) => current);
