import { many } from '../api/url';

/** What a scaling report is of, as it stands in the URL. */
export interface ScalingSearch {
  /** Ids of the runs; without any, those of the experiment. */
  runs?: string[];
  /** Id of the experiment, such as that of a sweep. */
  experiment?: string;
  metric?: string;
  /** The step that reports the metric. */
  step?: string;
  /** The parameter whose effect is reported. */
  by?: string;
  /** The value of it that the others are compared with. */
  base?: string;
  /** Parameters that do not matter. */
  ignore?: string[];
  /** What one rank costs in an hour. */
  price?: string;
  /** The currency of the price, and where it is from. */
  source?: string;
}

export function readScalingSearch(raw: Record<string, unknown>): ScalingSearch {
  const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined);
  return {
    runs: many(raw.runs),
    experiment: text(raw.experiment),
    metric: text(raw.metric),
    step: text(raw.step),
    by: text(raw.by),
    base: text(raw.base),
    ignore: many(raw.ignore),
    price: text(raw.price),
    source: text(raw.source),
  };
}
