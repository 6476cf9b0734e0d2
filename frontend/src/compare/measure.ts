import type { ComparedMetric, ComparedParameter, Comparison } from '../api/compare';

/** A metric of a step, by a key that stands in URLs. */
export const metricKey = ({ step_name, name }: ComparedMetric) => `${step_name ?? ''}/${name ?? ''}`;

const lessIsBetter = /loss|error|latency|duration|seconds|_ms\b|time|perplexity|rmse|\bmae\b|\bmse\b/i;

/** Whether the least value is the best: as the name suggests, or the other way round where the reader said so. */
export const least = (metric: ComparedMetric, turned: string[]) =>
  lessIsBetter.test(metric.name ?? '') !== turned.includes(metricKey(metric));

/** Values of a metric by run. */
export const valuesOf = (metric: ComparedMetric) =>
  new Map((metric.values ?? []).map(({ run_id, value }) => [run_id ?? '', value ?? 0]));

/** The best of some values; undefined when all are the same, as then none is. */
export function best(values: Iterable<number>, lowest: boolean): number | undefined {
  const all = [...values];
  const low = Math.min(...all);
  const high = Math.max(...all);
  if (all.length < 2 || low === high) return undefined;
  return lowest ? low : high;
}

/** The parameters to show: those that differ unless all are asked for, and whose name has the text in it. */
export function shownParameters(parameters: ComparedParameter[], all: boolean, q: string): ComparedParameter[] {
  const part = q.toLowerCase();
  return parameters.filter(({ name, same }) => (all || !same) && (name ?? '').toLowerCase().includes(part));
}

/** One point of the scatter: a run with its place on both axes. */
export interface Spot {
  run: string;
  x: number;
  y: number;
}

export interface Axis {
  key: string;
  label: string;
  /** Values by run; words where they are no numbers. */
  values: Map<string, number | string>;
}

/** What an axis can show: every parameter that differs, and every metric. */
export function axes(comparison: Pick<Comparison, 'parameters' | 'metrics'>): Axis[] {
  const parameters = (comparison.parameters ?? [])
    .filter(({ same }) => !same)
    .map(({ name = '', values = [] }) => ({
      key: `parameter:${name}`,
      label: name,
      values: new Map(values.map(({ run_id = '', value = '' }) => [run_id, numberOr(value)])),
    }));
  const metrics = (comparison.metrics ?? []).map((metric) => ({
    key: `metric:${metricKey(metric)}`,
    label: `${metric.name} (${metric.step_name})`,
    values: valuesOf(metric) as Map<string, number | string>,
  }));
  return [...parameters, ...metrics];
}

/** The axes to show side by side: those that are named, else the first parameters and then the first metric. */
export function chosenAxes(all: Axis[], keys: string[] | undefined, most: number): Axis[] {
  const named = (keys ?? []).flatMap((key) => all.find((axis) => axis.key === key) ?? []);
  if (named.length > 0) return named.slice(0, most);
  const metric = all.filter(({ key }) => key.startsWith('metric:'));
  const parameters = all.filter(({ key }) => key.startsWith('parameter:'));
  return [...parameters.slice(0, 5), ...metric.slice(0, parameters.length > 0 ? 2 : 4)];
}

const numberOr = (text: string) => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text);

/** Places of values on an axis: numbers as they are, words side by side. */
export function places({ values }: Axis): { at: Map<string, number>; words?: string[] } {
  const all = [...values.values()];
  if (all.every((value) => typeof value === 'number')) return { at: values as Map<string, number> };
  const words = [...new Set(all.map(String))].sort();
  return { at: new Map([...values].map(([run, value]) => [run, words.indexOf(String(value))])), words };
}

/** The points of the runs that have both. */
export function spots(x: Axis, y: Axis): Spot[] {
  const xs = places(x).at;
  const ys = places(y).at;
  return [...xs].flatMap(([run, value]) => {
    const other = ys.get(run);
    return other === undefined ? [] : [{ run, x: value, y: other }];
  });
}
