import { many } from '../api/url';

/** What a graph of steps shows, as it stands in the URL. */
export interface GraphSearch {
  /** Part of a step's name, or a path; on the page of a run's events part of what they say. */
  q?: string;
  /** What is left out. */
  hide?: 'succeeded';
  /** Large groups that are open, and small ones that are closed. */
  opened?: string[];
  closed?: string[];
}

/** Changes some of what the URL says about a graph. */
export type GraphPatch = (patch: GraphSearch) => void;

/** A text of the URL; undefined for none. */
export const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

export const readGraphSearch = (raw: Record<string, unknown>): GraphSearch => ({
  q: text(raw.q),
  hide: raw.hide === 'succeeded' ? 'succeeded' : undefined,
  opened: many(raw.opened),
  closed: many(raw.closed),
});
