import type { Point, Series } from '../api/series';

/** Finds the value of a series that belongs to a point of another: that of the same step, else the nearest in time. */
export function joinedTo(series: Series): (point: Point) => number | undefined {
  const known = series.points.filter((point): point is Point & { value: number } => point.value !== null);
  const bySteps = new Map(known.map(({ step, value }) => [step, value]));
  const timed = known
    .filter((point): point is typeof point & { at: number } => point.at !== undefined)
    .sort((a, b) => a.at - b.at);
  return ({ step, at }) => bySteps.get(step) ?? (at === undefined ? undefined : nearest(timed, at));
}

function nearest(timed: { at: number; value: number }[], at: number): number | undefined {
  let [low, high] = [0, timed.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((timed[middle]?.at ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  const [before, after] = [timed[low - 1], timed[low]];
  if (!before || !after) return (before ?? after)?.value;
  return at - before.at <= after.at - at ? before.value : after.value;
}

/** The series along the axis that belongs to a series: of the same step of the run and the same rank, else of its lowest rank. */
export function partnerOf({ nodeID, rank }: Series, along: Series[]): Series | undefined {
  const own = along.filter((one) => one.nodeID === nodeID);
  return own.find((one) => one.rank === rank) ?? own.sort((a, b) => a.rank - b.rank)[0];
}
