export const axes = ['step', 'time', 'relative'] as const;

/** What lies along the x-axis: training steps, the time of day, the time since the run began, or another metric. */
export type Axis = (typeof axes)[number] | `${typeof prefix}${string}`;

const prefix = 'metric:';

/** The axis that another metric is. */
export const axisOf = (metric: string): Axis => `${prefix}${metric}`;

/** The metric that lies along an axis, if it is one. */
export const metricOf = (axis: Axis) => (axis.startsWith(prefix) ? axis.slice(prefix.length) : undefined);

/** Reads an axis out of an address. */
export function readAxis(raw: unknown): Axis | undefined {
  if (typeof raw === 'string' && raw.startsWith(prefix) && raw !== prefix) return raw as Axis;
  return axes.find((axis) => axis === raw);
}
