/** What a list shows, as it stands in the URL. */
export interface ListSearch {
  /** Part of the name. */
  q?: string;
  /** Field, and its direction. */
  sort?: string;
  dir?: 'asc' | 'desc';
  /** Rows per page. */
  size?: number;
  /** The server's token of the page, and which page that is; absent on the first. */
  token?: string;
  page?: number;
}

export const pageSizes = [10, 20, 50, 100] as const;

/** Rows per page unless the URL says otherwise. */
export const defaultPageSize = 20;

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Reads a list's state out of a URL; what makes no sense is dropped, as a URL may have been typed. */
export function readListSearch(raw: Record<string, unknown>): ListSearch {
  const size = Number(raw.size);
  const page = Number(raw.page);
  const token = text(raw.token);
  return {
    q: text(raw.q),
    sort: text(raw.sort),
    dir: raw.dir === 'asc' || raw.dir === 'desc' ? raw.dir : undefined,
    size: pageSizes.some((s) => s === size) ? size : undefined,
    token,
    page: token && Number.isInteger(page) && page > 1 ? page : undefined,
  };
}

export interface Predicate {
  op: 'EQUALS' | 'IN' | 'IS_SUBSTRING' | 'GREATER_THAN';
  key: string;
  string_value?: string;
  timestamp_value?: string;
  string_values?: { values: string[] };
}

/** The filter of a list call. It is encoded once more than HTTP asks for: that is the wire contract of v1beta1 lists. */
export function encodeFilter(predicates: Predicate[]): string | undefined {
  return predicates.length > 0 ? encodeURIComponent(JSON.stringify({ predicates })) : undefined;
}

export const named = (q: string | undefined): Predicate[] =>
  q ? [{ op: 'IS_SUBSTRING', key: 'name', string_value: q }] : [];

/** The page, order and filter of a list call. */
export function listQuery(search: ListSearch, fallback: { sort: string; dir: 'asc' | 'desc' }, filter: Predicate[]) {
  return {
    page_size: search.size ?? defaultPageSize,
    page_token: search.token,
    sort_by: `${search.sort ?? fallback.sort} ${search.dir ?? fallback.dir}`,
    filter: encodeFilter(filter),
  };
}
