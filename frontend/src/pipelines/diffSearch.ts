import { many } from '../api/url';
import { text } from '../graph/graphSearch';

const views = ['changes', 'graph', 'yaml'] as const;

/** How the difference of two versions is shown, as it stands in the URL. */
export interface DiffView {
  /** A list of changes unless said. */
  diff?: (typeof views)[number];
  /** The step of the graph whose changes are listed. */
  step?: string;
  /** Part of the name of a step to find in the graph. */
  find?: string;
  /** Groups of the graph that are open, and small ones that are closed. */
  opened?: string[];
  closed?: string[];
}

export const readDiffView = (raw: Record<string, unknown>): DiffView => ({
  diff: views.find((view) => view === raw.diff),
  step: text(raw.step),
  find: text(raw.find),
  opened: many(raw.opened),
  closed: many(raw.closed),
});

/** What the page of two versions shows. */
export interface DiffSearch extends DiffView {
  from?: string;
  to?: string;
}
