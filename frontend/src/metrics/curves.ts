import type { Point, Series } from '../api/series';
import type { Axis } from './axis';
import { joinedTo, partnerOf } from './join';

/** One line of a chart. */
export interface Curve {
  id: string;
  label: string;
  x: number[];
  y: (number | null)[];
  /** The least and the greatest of the ranks, where the line is their mean. */
  low?: (number | null)[];
  high?: (number | null)[];
}

/** What points are put along. */
export interface Along {
  axis: Axis;
  /** When the run began, in seconds since 1970. */
  began: number;
  /** The series of the metric that the axis is; absent where it is none. */
  of?: Series[];
}

/** Puts the points of a series along an axis; those without a place on it are left out. Of two at one place the last counts. */
export function curveOf(series: Series, label: string, along: Along): Curve {
  const at = new Map<number, number | null>();
  const place = placeOn(along, series);
  for (const point of series.points) {
    const x = place(point);
    if (x !== undefined) at.set(x, point.value);
  }
  const sorted = [...at].sort((a, b) => a[0] - b[0]);
  return {
    id: `${series.nodeID}/${series.rank}`,
    label,
    x: sorted.map(([x]) => x),
    y: sorted.map(([, y]) => y),
  };
}

function placeOn({ axis, began, of }: Along, series: Series): (point: Point) => number | undefined {
  if (of) {
    const partner = partnerOf(series, of);
    return partner ? joinedTo(partner) : () => undefined;
  }
  if (axis === 'step') return ({ step }) => step;
  return ({ at }) => (at === undefined || axis === 'time' ? at : at - began);
}

/** The mean of curves, with the band that they lie in. Each counts only from its first point to its last. */
export function meanOf(curves: Curve[], id: string, label: string): Curve {
  const x = placesOf(curves);
  const lines = curves.map((curve) => interpolated(curve, x));
  const mean: Curve = { id, label, x, y: [], low: [], high: [] };
  for (let i = 0; i < x.length; i++) {
    const values = lines.map((line) => line[i] ?? null).filter((value) => value !== null);
    const some = values.length > 0;
    mean.y.push(some ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
    mean.low?.push(some ? Math.min(...values) : null);
    mean.high?.push(some ? Math.max(...values) : null);
  }
  return mean;
}

/** All places at which some curve has a point. */
export const placesOf = (curves: Curve[]) => [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);

// Ranks print at slightly different times: without interpolation each place would have one rank's value only.
function interpolated({ x, y }: Curve, places: number[]): (number | null)[] {
  const known = x.map((at, i) => [at, y[i]] as const).filter((pair): pair is [number, number] => pair[1] !== null);
  let next = 0;
  return places.map((place) => {
    while (next < known.length && (known[next] as [number, number])[0] < place) next++;
    const right = known[next];
    if (!right) return null;
    if (right[0] === place) return right[1];
    const left = known[next - 1];
    return left ? left[1] + ((right[1] - left[1]) * (place - left[0])) / (right[0] - left[0]) : null;
  });
}

/** An exponential mean of the values before each, as TensorBoard has it; weight is from 0 (the raw values) to 1. */
export function smoothed(y: (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return y;
  let sum = 0;
  let share = 0;
  return y.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    // The first values have few before them: without the division all curves would begin at zero.
    share = weight * share + (1 - weight);
    return sum / share;
  });
}

/** One curve over the places of all curves: null where it has a gap, undefined where it has no point. */
export function spread(curve: Curve, y: (number | null)[], places: number[]): (number | null | undefined)[] {
  const at = new Map(curve.x.map((x, i) => [x, y[i]]));
  return places.map((place) => at.get(place));
}

export interface Summary {
  last: number | null;
  min: number | null;
  max: number | null;
}

/** The last, least and greatest value of points; null when none is a number. */
export function summaryOf(points: Point[]): Summary {
  const values = points.map((point) => point.value).filter((value) => value !== null);
  if (values.length === 0) return { last: null, min: null, max: null };
  return {
    last: values.at(-1) ?? null,
    min: values.reduce((a, b) => Math.min(a, b)),
    max: values.reduce((a, b) => Math.max(a, b)),
  };
}

/** Series as CSV: one line for each point. */
export function csvOf(series: Series[], nameOf: (nodeID: string) => string): string {
  const lines = ['metric,step_name,rank,step,printed_at,value'];
  for (const one of series) {
    for (const { step, at, value } of one.points) {
      const time = at === undefined ? '' : new Date(at * 1000).toISOString();
      lines.push([cell(one.name), cell(nameOf(one.nodeID)), one.rank, step, time, value ?? ''].join(','));
    }
  }
  return `${lines.join('\n')}\n`;
}

// A spreadsheet reads a text that begins so as a formula, which a pipeline must not bring in.
const formula = /^[=+\-@\t\r]/;

function cell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
