import { useLocalStorage } from '@mantine/hooks';
import type { RunsSearch } from '../api/runs';
import { many, parseSearch, stringifySearch } from '../api/url';

/** A list of runs with a name, kept in this browser. */
export interface SavedView {
  name: string;
  /** The search of its URL, which can be shared. */
  search: string;
}

/** The part of the URL that a view keeps: not the page, nor the runs that are chosen. */
export const viewOf = ({ token: _, page: __, chosen: ___, ...kept }: RunsSearch) => stringifySearch({ ...kept });

/** A view's URL taken apart. */
export const searchOf = (view: SavedView) => parseSearch(view.search);

const isView = (one: unknown): one is SavedView =>
  typeof (one as SavedView)?.name === 'string' && typeof (one as SavedView)?.search === 'string';

/** What the browser kept; nothing of what makes no sense. */
export function readViews(text: string | undefined): SavedView[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? read.filter(isView) : [];
  } catch {
    return [];
  }
}

/** The views of this browser, in the order of their names. */
export function useViews() {
  const [views, setViews] = useLocalStorage<SavedView[]>({
    key: 'argosy-run-views',
    defaultValue: [],
    deserialize: readViews,
  });
  const others = (name: string) => views.filter((view) => view.name !== name);
  return {
    views,
    save: (view: SavedView) => setViews([...others(view.name), view].sort((a, b) => a.name.localeCompare(b.name))),
    remove: (name: string) => setViews(others(name)),
  };
}

/** The view that the list shows, if it has a name. */
export function useCurrentView(search: RunsSearch): SavedView | undefined {
  const now = viewOf(search);
  return useViews().views.find((view) => view.search === now);
}

const yes = (raw: unknown) => (raw === 'true' || raw === true ? true : undefined);

/** Reads which runs are pinned, the parameter that runs are grouped by, and what else is shown of them, out of a URL. */
export const readPins = (raw: Record<string, unknown>) => ({
  labels: yes(raw.labels),
  bars: yes(raw.bars),
  pins: many(raw.pins),
  by: typeof raw.by === 'string' && raw.by !== '' ? raw.by : undefined,
});
