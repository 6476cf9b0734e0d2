/** Reads a URL's search as strings; a key that occurs more than once becomes an array. */
export function parseSearch(search: string): Record<string, string | string[]> {
  const read: Record<string, string | string[]> = {};
  const params = new URLSearchParams(search);
  for (const key of params.keys()) {
    const values = params.getAll(key);
    read[key] = values.length > 1 ? values : (values[0] as string);
  }
  return read;
}

/** Writes a URL's search; what is undefined is left out, and an array repeats its key (an empty one keeps it, empty). */
export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) {
    if (value === undefined) continue;
    const values = Array.isArray(value) ? value : [value];
    for (const one of values.length > 0 ? values : ['']) params.append(key, String(one));
  }
  const text = params.toString();
  return text && `?${text}`;
}

/** The values of a repeated key; undefined when it is absent, empty when it stands there without one. */
export function many(raw: unknown): string[] | undefined {
  if (raw === undefined) return undefined;
  return (Array.isArray(raw) ? raw : [raw]).filter(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}
