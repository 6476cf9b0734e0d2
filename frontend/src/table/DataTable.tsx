import { Table, UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import { type ColumnDef, type RowData, rowSortingFeature, tableFeatures, useTable } from '@tanstack/react-table';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './DataTable.module.css';

/** The server sorts; the table only shows by what. */
const features = tableFeatures({ rowSortingFeature });

declare module '@tanstack/react-table' {
  interface ColumnMeta<TFeatures, TData, TValue> {
    align?: 'right';
    /** The column that says what the row is; wide enough for names. */
    lead?: boolean;
    width?: string | number;
  }
}

export type Column<T extends RowData> = ColumnDef<typeof features, T, unknown>;

export interface Sorting {
  sort: string;
  dir: 'asc' | 'desc';
}

interface DataTableProps<T extends RowData> {
  /** Says what the table holds, for screen readers. */
  caption: string;
  columns: Column<T>[];
  rows: T[];
  rowID: (row: T) => string;
  sorting?: Sorting;
  onSort?: (sorting: Sorting) => void;
  /** Marks a row as the chosen one. */
  selected?: string;
  /** So many rows at the top stay there whatever the order. */
  pinned?: number;
  /** Without a frame of its own, for where there is one already. */
  bare?: boolean;
}

// Fewer rows than this are all in the page, where the browser's own search finds them.
const virtualFrom = 120;
const rowHeight = 45;

/** A table whose headers sort. A long one draws only its visible rows. */
export function DataTable<T extends RowData>({
  caption,
  columns,
  rows,
  rowID,
  sorting,
  onSort,
  selected,
  pinned = 0,
  bare,
}: DataTableProps<T>) {
  const { t } = useTranslation();
  const table = useTable({
    features,
    columns,
    data: rows,
    getRowId: rowID,
    manualSorting: true,
    state: { sorting: sorting ? [{ id: sorting.sort, desc: sorting.dir === 'desc' }] : [] },
  });
  const all = table.getRowModel().rows;
  const { body, window: part } = useWindow(all.length);

  return (
    <div className={bare ? classes.scroll : `panel ${classes.scroll}`}>
      <Table className={classes.table} verticalSpacing={9} horizontalSpacing="md">
        <caption className={classes.caption}>
          <VisuallyHidden>{caption}</VisuallyHidden>
        </caption>
        <Table.Thead>
          {table.getHeaderGroups().map((group) => (
            <Table.Tr key={group.id}>
              {group.headers.map((header) => {
                const { column } = header;
                const order = column.getIsSorted();
                const { align, width } = column.columnDef.meta ?? {};
                return (
                  <Table.Th
                    key={header.id}
                    scope="col"
                    style={{ width, textAlign: align }}
                    aria-sort={order ? (order === 'asc' ? 'ascending' : 'descending') : undefined}
                  >
                    {onSort && column.columnDef.enableSorting ? (
                      <UnstyledButton
                        className={classes.sort}
                        data-sorted={order || undefined}
                        onClick={() => onSort({ sort: column.id, dir: order === 'desc' ? 'asc' : 'desc' })}
                        title={t('list.sortBy', { column: String(column.columnDef.header) })}
                      >
                        <table.FlexRender header={header} />
                        {order === 'asc' && <IconArrowUp size={14} aria-hidden />}
                        {order === 'desc' && <IconArrowDown size={14} aria-hidden />}
                        {!order && <IconArrowsSort size={14} aria-hidden className={classes.unsorted} />}
                      </UnstyledButton>
                    ) : (
                      <table.FlexRender header={header} />
                    )}
                  </Table.Th>
                );
              })}
            </Table.Tr>
          ))}
        </Table.Thead>
        <Table.Tbody ref={body}>
          {part.before > 0 && <tr aria-hidden style={{ height: part.before }} />}
          {all.slice(part.from, part.to).map((row) => (
            <Table.Tr
              key={row.id}
              data-selected={row.id === selected || undefined}
              data-pinned={row.index < pinned || undefined}
            >
              {row.getAllCells().map((cell) => (
                <Table.Td
                  key={cell.id}
                  data-lead={cell.column.columnDef.meta?.lead}
                  style={{ textAlign: cell.column.columnDef.meta?.align }}
                >
                  <table.FlexRender cell={cell} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
          {part.after > 0 && <tr aria-hidden style={{ height: part.after }} />}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** Which rows to draw, and how high what is left out stands before and after them. */
function useWindow(count: number) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    setTop(body.current ? body.current.getBoundingClientRect().top + window.scrollY : 0);
  }, []);
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top,
    enabled: count >= virtualFrom,
  });
  const items = virtual.getVirtualItems();
  if (count < virtualFrom || items.length === 0) {
    return { body, window: { from: 0, to: count < virtualFrom ? count : 40, before: 0, after: 0 } };
  }
  const first = items[0] as (typeof items)[number];
  const last = items.at(-1) as (typeof items)[number];
  return {
    body,
    window: {
      from: first.index,
      to: last.index + 1,
      before: first.start - top,
      after: virtual.getTotalSize() - (last.end - top),
    },
  };
}
