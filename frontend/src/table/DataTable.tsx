import { UnstyledButton, VisuallyHidden } from '@mantine/core';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import { type ComponentType, lazy, type ReactNode, Suspense, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './DataTable.module.css';
import { useOverflow } from './useOverflow';

const LongRows = lazy(() => import('./LongRows'));

export interface Column<T> {
  id: string;
  header: string | ComponentType;
  cell: (row: T) => ReactNode;
  /** The list can be sorted by it: its header asks for that. */
  sorts?: boolean;
  align?: 'right';
  /** The column that says what the row is; wide enough for names. */
  lead?: boolean;
  width?: string | number;
}

export interface Sorting {
  sort: string;
  dir: 'asc' | 'desc';
}

interface DataTableProps<T> {
  /** Says what the table holds, for screen readers. */
  caption: string;
  columns: Column<T>[];
  rows: T[];
  rowID: (row: T) => string;
  /** The server sorts; the table only shows by what. */
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
const longFrom = 120;
// So many fill the window until the code for long tables is there.
const firstRows = 40;

/** A table whose headers sort. A long one draws only its visible rows. */
export function DataTable<T>({
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
  const body = useRef<HTMLTableSectionElement>(null);
  const box = useRef<HTMLElement>(null);
  const scrolls = useOverflow(box);
  const draw = (from: number, to: number) =>
    rows.slice(from, to).map((row, i) => {
      const id = rowID(row);
      return (
        <tr key={id} data-selected={id === selected || undefined} data-pinned={from + i < pinned || undefined}>
          {columns.map((column) => (
            <td key={column.id} data-lead={column.lead} style={{ textAlign: column.align }}>
              {column.cell(row)}
            </td>
          ))}
        </tr>
      );
    });

  return (
    <section
      ref={box}
      className={bare ? classes.scroll : `panel ${classes.scroll}`}
      tabIndex={scrolls ? 0 : undefined}
      aria-label={scrolls ? caption : undefined}
    >
      <table className={classes.table}>
        <caption className={classes.caption}>
          <VisuallyHidden>{caption}</VisuallyHidden>
        </caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.length < longFrom ? (
            draw(0, rows.length)
          ) : (
            <Suspense fallback={draw(0, firstRows)}>
              <LongRows body={body} count={rows.length} draw={draw} start={draw(0, firstRows)} />
            </Suspense>
          )}
        </tbody>
      </table>
    </section>
  );
}

interface HeadProps<T> {
  column: Column<T>;
  sorting: Sorting | undefined;
  onSort: ((sorting: Sorting) => void) | undefined;
}

function Head<T>({ column: { id, header: Header, sorts, align, width }, sorting, onSort }: HeadProps<T>) {
  const { t } = useTranslation();
  const order = sorting?.sort === id ? sorting.dir : undefined;
  const title = typeof Header === 'string' ? Header : <Header />;
  return (
    <th
      scope="col"
      style={{ width, textAlign: align }}
      aria-sort={order && (order === 'asc' ? 'ascending' : 'descending')}
    >
      {onSort && sorts ? (
        <UnstyledButton
          className={classes.sort}
          data-sorted={order}
          onClick={() => onSort({ sort: id, dir: order === 'desc' ? 'asc' : 'desc' })}
          title={t('list.sortBy', { column: String(Header) })}
        >
          {title}
          {order === 'asc' && <IconArrowUp size={14} aria-hidden />}
          {order === 'desc' && <IconArrowDown size={14} aria-hidden />}
          {!order && <IconArrowsSort size={14} aria-hidden className={classes.unsorted} />}
        </UnstyledButton>
      ) : (
        title
      )}
    </th>
  );
}
