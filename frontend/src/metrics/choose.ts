import type { Part, Series } from '../api/series';
import { type Axis, metricOf } from './axis';
import { type Along, type Curve, curveOf, meanOf } from './curves';

/** More lines than this are a tangle. */
export const mostCurves = 12;

interface Choice {
  along: Along;
  /** "each", "mean", or ranks such as 0,3; absent: the mean where there are too many to tell apart. */
  ranks: string | undefined;
  nameOf: (nodeID: string) => string;
  words: { rank: (rank: number) => string; mean: (label: string, count: number) => string; nobody: string };
}

/** The lines of a chart, and how many there would be without a limit. */
export function chooseCurves(
  series: Series[],
  { along, ranks, nameOf, words }: Choice,
): { curves: Curve[]; all: number } {
  const wanted = ranks && ranks !== 'each' && ranks !== 'mean' ? new Set(ranks.split(',').map(Number)) : undefined;
  const kept = wanted ? series.filter((one) => wanted.has(one.rank)) : series;
  const steps = new Set(kept.map((one) => one.nodeID));
  const several = new Set(kept.map((one) => one.rank)).size > 1;
  const label = ({ nodeID, rank }: Series) => {
    const name = steps.size > 1 || !several ? [nameOf(nodeID)] : [];
    if (several) name.push(rank < 0 ? words.nobody : words.rank(rank));
    return name.join(' · ');
  };
  if (ranks === 'mean' || (ranks === undefined && several && kept.length > mostCurves)) {
    const means = [...steps].map((nodeID) => {
      const own = kept.filter((one) => one.nodeID === nodeID).map((one) => curveOf(one, '', along));
      return own.length === 1 && own[0]
        ? { ...own[0], label: nameOf(nodeID) }
        : meanOf(own, `${nodeID}/mean`, words.mean(nameOf(nodeID), own.length));
    });
    return { curves: means.slice(0, mostCurves), all: means.length };
  }
  const shown = kept.slice(0, mostCurves).map((one) => curveOf(one, label(one), along));
  return { curves: shown, all: kept.length };
}

/** As many points as a chart of the whole asks for. */
export const fewestPoints = 500;

/** From where to where curves go; undefined when they have no point. */
export function extentOf(curves: Curve[]): [number, number] | undefined {
  const ends = curves.flatMap(({ x }) => (x.length > 0 ? [x[0] as number, x.at(-1) as number] : []));
  return ends.length > 0 ? [Math.min(...ends), Math.max(...ends)] : undefined;
}

/** The part of the curves that is zoomed to; undefined where all is shown, or where the axis is another metric. */
export function partOf(zoom: [number, number] | undefined, axis: Axis, began: number): Part | undefined {
  if (!zoom || metricOf(axis) !== undefined) return undefined;
  const [from, to] = zoom;
  if (axis === 'step') return { by: 'step', from, to };
  const since = axis === 'relative' ? began : 0;
  return { by: 'time', from: since + from, to: since + to };
}

/** Puts the points of a part into the coarse curves of the whole. */
export const refined = (whole: Series[], part: Series[] = []): Series[] =>
  whole.map((one) => {
    const finer = part.find(({ nodeID, rank }) => nodeID === one.nodeID && rank === one.rank);
    return finer ? { ...one, points: [...one.points, ...finer.points] } : one;
  });

/** How many points to ask for so that the part that is shown has enough of them. */
export function pointsFor(
  zoom: [number, number] | undefined,
  extent: [number, number] | undefined,
  most: number,
): number {
  if (!zoom || !extent) return fewestPoints;
  const share = (zoom[1] - zoom[0]) / Math.max(extent[1] - extent[0], Number.EPSILON);
  // In steps, so that a slightly different zoom asks nothing new.
  for (let points = fewestPoints; points < most; points *= 2) if (points * share >= fewestPoints) return points;
  return most;
}
