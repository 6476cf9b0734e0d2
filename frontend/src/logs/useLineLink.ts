import { useLocation, useNavigate } from '@tanstack/react-router';
import { lineOfHash } from './search';

/** The line that the URL points to (#L120), and a way to point to another. */
export function useLineLink() {
  const navigate = useNavigate();
  const hash = useLocation({ select: (location) => location.hash });
  const link = (line: number) => void navigate({ to: '.', search: true as never, hash: `L${line}`, replace: true });
  return { linked: lineOfHash(hash), link };
}
