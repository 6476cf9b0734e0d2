import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Page } from '../api/client';
import type { ListSearch } from '../api/list';
import { newestFirst } from '../api/pipelines';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { type Column, DataTable } from './DataTable';
import { Pager } from './ListControls';
import { NoMatch } from './NoMatch';
import type { useListURL } from './useListURL';

interface PagedTableProps<T, S extends ListSearch> {
  /** The page of the list that the server gave, or why there is none. */
  list: { data: Page<T> | undefined; error: Error | null; isPending: boolean; refetch: () => unknown };
  /** What is waited for, or failed. */
  what: string;
  /** What the rows are. */
  title: string;
  columns: Column<T>[];
  search: S;
  url: ReturnType<typeof useListURL<S>>;
  /** Stands in place of a list that has no rows, where nothing was filtered. */
  empty: ReactNode;
}

/** A list that the server filters, sorts and pages: its rows and the way to the others, or what stands in their place. */
export function PagedTable<T extends { id: string }, S extends ListSearch>({
  list: { data, error, isPending, refetch },
  what,
  title,
  columns,
  search,
  url: { change, sort, turn },
  empty,
}: PagedTableProps<T, S>) {
  const { t } = useTranslation();
  const filtered = search.q || search.token;
  return (
    <>
      {error && <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />}
      {isPending && <Awaiting what={what} />}
      {data && data.items.length > 0 && (
        <Stack gap="sm">
          <DataTable
            caption={t('list.caption', { what: title, count: data.items.length })}
            columns={columns}
            rows={data.items}
            rowID={(row) => row.id}
            sorting={{ sort: search.sort ?? newestFirst.sort, dir: search.dir ?? newestFirst.dir }}
            onSort={sort}
          />
          <Pager search={search} shown={data.items.length} total={data.total} next={data.next} turn={turn} />
        </Stack>
      )}
      {data?.items.length === 0 &&
        (filtered ? <NoMatch onClear={() => change({ q: undefined } as Partial<S>)} /> : empty)}
    </>
  );
}
