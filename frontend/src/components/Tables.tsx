import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ParameterTable } from '../feedback/ParameterTable';
import { Time } from '../format/Duration';
import { StatusBadge } from '../status/StatusBadge';
import { type Column, DataTable, type Sorting } from '../table/DataTable';
import { Pager } from '../table/ListControls';
import { Example, Section } from './Section';

const rows = [
  { id: '1', name: 'resnet-50 on 8 workers', status: 'Running', started: '2026-01-01T10:00:00Z', rate: 3033.6 },
  { id: '2', name: 'resnet-50 on 4 workers', status: 'Succeeded', started: '2026-01-01T09:00:00Z', rate: 1517.1 },
  { id: '3', name: 'a-name-that-is-longer-than-its-column-and-has-no-blank', status: 'Failed', started: '', rate: 0 },
];
type Row = (typeof rows)[number];

const none = () => undefined;
const turns = { first: none, previous: none, next: none, resize: none };

/** Rows and columns. */
export function Tables() {
  const { t } = useTranslation();
  const [sorting, setSorting] = useState<Sorting>({ sort: 'rate', dir: 'desc' });
  const sign = sorting.dir === 'asc' ? 1 : -1;
  const sorted = rows.toSorted((a, b) => sign * (sorting.sort === 'rate' ? a.rate - b.rate : a.name < b.name ? -1 : 1));
  const columns: Column<Row>[] = [
    {
      id: 'name',
      header: t('field.name'),
      lead: true,
      sorts: true,
      cell: ({ name }) => <span className="name">{name}</span>,
    },
    { id: 'status', header: t('field.status'), cell: ({ status }) => <StatusBadge phase={status} /> },
    { id: 'started', header: t('field.started'), cell: ({ started }) => <Time at={started} /> },
    { id: 'rate', header: 'images/sec', align: 'right', sorts: true, cell: ({ rate }) => rate.toFixed(1) },
  ];
  const caption = (what: string) => t('list.caption', { what, count: rows.length });
  return (
    <Section title={t('components.tables')}>
      <Example name="DataTable" wide>
        <DataTable
          caption={caption(t('components.sorted'))}
          columns={columns}
          rows={sorted}
          rowID={({ id }) => id}
          sorting={sorting}
          onSort={setSorting}
        />
      </Example>
      <Example name="DataTable selected, pinned" wide>
        <DataTable
          caption={caption(t('components.chosen'))}
          columns={columns}
          rows={rows}
          rowID={({ id }) => id}
          selected="2"
          pinned={1}
        />
      </Example>
      <Example name="Pager" wide>
        <Pager search={{ page: 2, token: 'a' }} shown={3} total={48} next="b" turn={turns} />
      </Example>
      <Example name="ParameterTable" wide>
        <ParameterTable
          caption={t('field.value')}
          parameters={[
            { name: 'workers', value: '2' },
            { name: 'note', value: '' },
          ]}
          empty={t('pipeline.noParameters')}
        />
        <ParameterTable caption={t('field.value')} parameters={[]} empty={t('pipeline.noParameters')} />
      </Example>
    </Section>
  );
}
