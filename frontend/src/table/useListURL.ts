import { useLocation, useNavigate } from '@tanstack/react-router';
import { defaultPageSize, type ListSearch } from '../api/list';
import type { Sorting } from './DataTable';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Tokens of the pages before this one, kept with the history entry; the first page's is empty. */
    trail?: string[];
  }
}

/** Moves between the pages of a list. */
export interface PageTurn {
  first: () => void;
  /** Undefined when the way back is not known: the URL was opened as it is. */
  previous?: () => void;
  next: (token: string) => void;
  resize: (size: number) => void;
}

/** Changes the state of a list in the URL, where it can be shared and gone back to. */
export function useListURL<S extends ListSearch>(search: S) {
  const navigate = useNavigate();
  const trail = useLocation({ select: (location) => location.state.trail });

  const go = (next: ListSearch, nextTrail?: string[], replace = false) =>
    void navigate({
      to: '.',
      search: next as never,
      replace,
      state: (state) => ({ ...state, trail: nextTrail }),
    });

  /** Anything that changes what is listed begins again at the first page. */
  const change = (patch: Partial<S>, replace = false) =>
    go({ ...search, ...patch, token: undefined, page: undefined }, undefined, replace);

  /** What is shown of the rows, and which are chosen, leaves the page of the list as it is. */
  const select = (patch: Partial<S>) => go({ ...search, ...patch }, trail, true);

  const page = search.page ?? 1;
  const turn: PageTurn = {
    first: () => change({}),
    previous: trail?.length
      ? () =>
          go({ ...search, token: trail.at(-1) || undefined, page: page > 2 ? page - 1 : undefined }, trail.slice(0, -1))
      : undefined,
    next: (token) => go({ ...search, token, page: page + 1 }, [...(trail ?? []), search.token ?? '']),
    resize: (size) => change({ size: size === defaultPageSize ? undefined : size } as Partial<S>),
  };
  const sort = (sorting: Sorting) => change(sorting as Partial<S>);

  return { change, select, sort, turn };
}
