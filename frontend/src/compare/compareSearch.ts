import { many } from '../api/url';
import { type DiffView, readDiffView } from '../pipelines/diffSearch';

/** What a comparison shows, as it stands in the URL. */
export interface CompareSearch extends DiffView {
  /** Ids of the runs. */
  runs?: string[];
  /** The run that the others are measured by; the first unless said. */
  base?: string;
  /** What the rows of the table are; metrics and parameters unless said. */
  rows?: 'runs';
  /** All parameters instead of those that differ. */
  all?: boolean;
  /** Part of the names to show. */
  q?: string;
  /** Metrics whose best value lies at the other end than their names suggest. */
  turned?: string[];
  /** What the scatter's axes are, as parameter:NAME or metric:KEY. */
  x?: string;
  y?: string;
  align?: 'step' | 'time';
  /** The run whose pipeline is compared with the baseline's. */
  other?: string;
  /** The axes of the parallel coordinates, as x and y. */
  axes?: string[];
  /** The run that stands out among them. */
  mark?: string;
  /** Ranges of these axes, as FROM~TO~AXIS; the runs in all of them are selected. */
  brush?: string[];
}

export function readCompareSearch(raw: Record<string, unknown>): CompareSearch {
  const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined);
  // KFP's links have the ids in one value.
  const runlist = text(raw.runlist)?.split(',').filter(Boolean);
  return {
    runs: many(raw.runs) ?? runlist,
    ...readDiffView(raw),
    base: text(raw.base),
    other: text(raw.other),
    all: raw.all === 'true' || raw.all === true ? true : undefined,
    rows: raw.rows === 'runs' ? 'runs' : undefined,
    q: text(raw.q),
    turned: many(raw.turned),
    x: text(raw.x),
    y: text(raw.y),
    axes: many(raw.axes),
    mark: text(raw.mark),
    brush: many(raw.brush),
    align: raw.align === 'time' ? 'time' : undefined,
  };
}
