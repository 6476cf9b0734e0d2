/** A stretch of the run, in seconds since the first of its steps. */
export type Range = [from: number, to: number];

// Kubernetes tells times to the second.
const least = 1;

/** A range around a place, so much shorter (below 1) or longer; undefined when that is all of the run. */
export function zoomed([from, to]: Range, length: number, factor: number, at = (from + to) / 2): Range | undefined {
  const size = Math.max(least, (to - from) * factor);
  const start = at - ((at - from) / (to - from)) * size;
  return within([start, start + size], length);
}

/** A range that lies later by this share of it, or earlier. */
export function moved([from, to]: Range, length: number, share: number): Range | undefined {
  const by = (to - from) * share;
  return within([from + by, to + by], length);
}

/** What was drawn over; undefined when that is too short to be meant. */
export function drawn(one: number, other: number, length: number): Range | undefined {
  const middle = (one + other) / 2;
  const half = Math.max(least, Math.abs(one - other)) / 2;
  return within([middle - half, middle + half], length);
}

/** Pushes a range into the run. */
function within([from, to]: Range, length: number): Range | undefined {
  const size = to - from;
  if (size >= length) return undefined;
  const start = Math.min(Math.max(from, 0), length - size);
  return [start, start + size];
}

/** How a range is written in the address. */
export const writeRange = ([from, to]: Range) => `${short(from)}~${short(to)}`;

const short = (seconds: number) => Number(seconds.toFixed(2));
