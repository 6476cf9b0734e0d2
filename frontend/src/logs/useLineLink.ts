import { useLocation, useNavigate } from '@tanstack/react-router';
import type { Place } from '../api/logs';
import { hashOf, placeOfHash } from './search';

/** The line that the URL points to (#L120, or #L120@LOG among several logs), and ways to point to another. */
export function useLineLink() {
  const navigate = useNavigate();
  const hash = useLocation({ select: (location) => location.hash });
  // The log scrolls to the line itself.
  const at = { to: '.', replace: true, resetScroll: false } as const;
  const link = (place: Place) => void navigate({ ...at, search: true as never, hash: hashOf(place) });
  /** Shows the log of a line without the others, also those of other steps. */
  const alone = ({ log, line }: Place, node?: string) =>
    void navigate({
      to: '.',
      search: ((old: object) => ({ ...old, ...(node && { node }), logs: [log] })) as never,
      hash: hashOf({ line }),
    });
  return { linked: placeOfHash(hash), link, alone };
}
