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
  /** Change the schedule whose values are taken over instead of making another. */
  replace?: boolean;
  /** The value of a parameter, by its name. */
  [value: `p.${string}`]: string | undefined;
}

export function readNewRunSearch(raw: Record<string, unknown>): NewRunSearch {
  const text = (value: unknown) => (typeof value === 'string' && value ? value : undefined);
  const yes = (value: unknown) => (value === 'true' || value === true ? true : undefined);
  const values: NewRunSearch = {};
  for (const key in raw) {
    if (isValue(key)) values[key] = String([raw[key]].flat().at(-1));
  }
  return {
    ...values,
    pipeline: text(raw.pipeline),
    version: text(raw.version),
    experiment: text(raw.experiment),
    clone: text(raw.clone),
    schedule: text(raw.schedule),
    recurring: yes(raw.recurring),
    replace: yes(raw.replace),
  };
}

const isValue = (key: string): key is `p.${string}` => key.startsWith('p.');

/** The values in a URL, by the names of their parameters. */
export const searchValues = (search: NewRunSearch): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search).flatMap(([key, value]) =>
      isValue(key) && value !== undefined ? [[key.slice(2), String(value)]] : [],
    ),
  );

/** What changes in a URL so that it has these values; one that is undefined leaves it. */
export const valuesPatch = (values: Record<string, string | undefined>): NewRunSearch =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`p.${name}`, value]));
