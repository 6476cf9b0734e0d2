/** What a new run begins with, as it stands in the URL. */
export interface NewRunSearch {
  pipeline?: string;
  /** A version other than the default. */
  version?: string;
  experiment?: string;
  /** A run whose values are taken over. */
  clone?: string;
}

export function readNewRunSearch(raw: Record<string, unknown>): NewRunSearch {
  const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined);
  return {
    pipeline: text(raw.pipeline),
    version: text(raw.version),
    experiment: text(raw.experiment),
    clone: text(raw.clone),
  };
}
