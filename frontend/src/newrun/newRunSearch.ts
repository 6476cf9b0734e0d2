/** What a new run begins with, as it stands in the URL. */
export interface NewRunSearch {
  pipeline?: string;
  /** A version other than the default. */
  version?: string;
  experiment?: string;
  /** A run whose values are taken over. */
  clone?: string;
  /** A schedule whose values are taken over. */
  schedule?: string;
  /** Runs again and again instead of one. */
  recurring?: boolean;
  /** Pause the schedule whose values were taken, once the new one is there. */
  replace?: boolean;
}

export function readNewRunSearch(raw: Record<string, unknown>): NewRunSearch {
  const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined);
  const yes = (value: unknown) => (value === 'true' || value === true ? true : undefined);
  return {
    pipeline: text(raw.pipeline),
    version: text(raw.version),
    experiment: text(raw.experiment),
    clone: text(raw.clone),
    schedule: text(raw.schedule),
    recurring: yes(raw.recurring),
    replace: yes(raw.replace),
  };
}
