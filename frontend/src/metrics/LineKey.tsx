import { seriesStroke } from './look';

/** A piece of the line at a place, to stand beside its name. */
export function LineKey({ index }: { index: number }) {
  return (
    <svg width="22" height="8" aria-hidden style={{ flex: 'none' }}>
      <line x1="0" x2="22" y1="4" y2="4" strokeWidth="2.5" {...seriesStroke(index)} />
    </svg>
  );
}
