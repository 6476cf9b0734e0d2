import { Text } from '@mantine/core';
import { IconAlertTriangleFilled } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Cluster, PendingResource } from '../api/cluster';
import { formatAmount, shortName } from '../cluster/amount';
import { Holders } from '../cluster/Holders';
import badge from '../status/StatusBadge.module.css';
import { type Column, DataTable } from '../table/DataTable';
import { holdersOf } from './place';

// More holders than this are a number.
const most = 5;

interface AskedTableProps {
  resources: PendingResource[];
  /** Undefined until it is read. */
  cluster: Cluster | undefined;
  /** The run that waits: what it has already is not in its own way. */
  runID: string;
}

/** What waiting pods ask for of each resource, what is free, and who holds the rest. */
export function AskedTable({ resources, cluster, runID }: AskedTableProps) {
  const { t } = useTranslation();
  const columns = useColumns(cluster, runID);
  return (
    <DataTable
      bare
      caption={t('pending.resources')}
      columns={columns}
      // What is lacking comes first.
      rows={resources.toSorted((a, b) => Number(b.lacking ?? false) - Number(a.lacking ?? false))}
      rowID={({ resource }) => resource ?? ''}
    />
  );
}

function useColumns(cluster: Cluster | undefined, runID: string): Column<PendingResource>[] {
  const { t, i18n } = useTranslation();
  return useMemo(() => {
    const amount = ({ resource = '' }: PendingResource, value: number | undefined) =>
      value === undefined ? t('pending.unknown') : formatAmount(resource, value, i18n.language);
    return [
      { id: 'resource', header: t('pending.resource'), cell: (row) => <Resource row={row} /> },
      {
        id: 'asked',
        header: t('pending.asked'),
        align: 'right',
        cell: (row) => (
          <>
            <strong>{amount(row, row.asked ?? 0)}</strong>
            {Boolean(row.largest_asked) && row.largest_asked !== row.asked && (
              <Text size="xs" c="dimmed">
                {t('pending.byOne', { amount: amount(row, row.largest_asked) })}
              </Text>
            )}
          </>
        ),
      },
      { id: 'free', header: t('pending.free'), align: 'right', cell: (row) => amount(row, row.free) },
      { id: 'node', header: t('pending.onOneNode'), align: 'right', cell: (row) => amount(row, row.largest_free) },
      {
        id: 'holders',
        header: t('cluster.heldBy'),
        cell: ({ resource = '' }) => cluster && <HeldBy cluster={cluster} resource={resource} runID={runID} />,
      },
    ];
  }, [t, i18n.language, cluster, runID]);
}

function Resource({ row: { resource = '', lacking } }: { row: PendingResource }) {
  const { t } = useTranslation();
  return (
    <>
      <Text size="sm" fw={550} title={resource}>
        {resource === 'memory' || resource === 'pods' ? t(`cluster.${resource}`) : shortName(resource)}
      </Text>
      {lacking && (
        <span className={badge.plain} data-tone="warn">
          <IconAlertTriangleFilled size={14} aria-hidden />
          {t('pending.lacking')}
        </span>
      )}
    </>
  );
}

function HeldBy({ cluster, resource, runID }: { cluster: Cluster; resource: string; runID: string }) {
  const { t } = useTranslation();
  const holders = holdersOf(cluster, resource).filter(({ run_id }) => run_id !== runID);
  return (
    <>
      <Holders holders={holders.slice(0, most)} />
      {holders.length > most && (
        <Text size="xs" c="dimmed">
          {t('pending.others', { count: holders.length - most })}
        </Text>
      )}
    </>
  );
}
