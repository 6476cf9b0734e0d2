import { Text } from '@mantine/core';
import { IconTrendingDown } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Worker } from '../api/cluster';
import { Duration } from '../format/Duration';
import { formatMetric, numberFormat } from '../format/format';
import { type Column, DataTable } from '../table/DataTable';
import classes from './Cluster.module.css';
import { StateBadge } from './StateBadge';
import type { Speed } from './throughput';

interface WorkersTableProps {
  workers: Worker[];
  speeds: Map<string, Speed>;
  /** The metric that tells the speed. */
  metric: string | undefined;
}

/** The pods of a job: where each is, which ranks it has, and how fast it is. */
export function WorkersTable({ workers, speeds, metric }: WorkersTableProps) {
  const { t } = useTranslation();
  const columns = useColumns(speeds, metric);
  if (workers.length === 0) {
    return (
      <Text c="dimmed" px="md" pb="md" role="status">
        {t('job.noPods')}
      </Text>
    );
  }
  return (
    <DataTable
      bare
      caption={t('list.caption', { what: t('job.workers'), count: workers.length })}
      columns={columns}
      rows={workers}
      rowID={(worker) => worker.pod ?? ''}
    />
  );
}

function useColumns(speeds: Map<string, Speed>, metric: string | undefined): Column<Worker>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        id: 'worker',
        header: t('job.worker'),
        lead: true,
        cell: (worker) => (
          <>
            <Text size="sm" fw={550}>
              {worker.role} {worker.index ?? 0}
            </Text>
            <Text size="xs" c="dimmed" className="break">
              {worker.pod}
            </Text>
          </>
        ),
      },
      {
        id: 'state',
        header: t('field.status'),
        cell: (worker) => (
          <>
            <StateBadge state={worker.state} />
            {worker.message && (
              <Text size="xs" c="dimmed" miw={180} className="break">
                {worker.message}
              </Text>
            )}
          </>
        ),
      },
      { id: 'ranks', header: t('job.ranks'), align: 'right', cell: (row) => ranksOf(row) },
      ...(metric
        ? [
            {
              id: 'speed',
              header: metric,
              align: 'right',
              cell: (row) => <SpeedCell speed={speeds.get(row.pod ?? '')} />,
            } satisfies Column<Worker>,
          ]
        : []),
      { id: 'node', header: t('cluster.node'), cell: (row) => row.node || t('field.none') },
      {
        id: 'address',
        header: t('job.address'),
        cell: (row) => <span className={`mono ${classes.address}`}>{row.address || t('field.none')}</span>,
      },
      {
        id: 'restarts',
        header: t('job.restarts'),
        align: 'right',
        cell: (row) => row.restarts ?? 0,
      },
      {
        id: 'time',
        header: t('field.duration'),
        cell: (worker) =>
          worker.started_at ? (
            <Duration start={worker.started_at} end={worker.finished_at} live={worker.state === 'Running'} />
          ) : (
            t('field.none')
          ),
      },
    ],
    [t, speeds, metric],
  );
}

function ranksOf({ first_rank: first, last_rank: last }: Worker): string {
  if (first == null || last == null) return '—';
  return first === last ? String(first) : `${first}–${last}`;
}

function SpeedCell({ speed }: { speed: Speed | undefined }) {
  const { t, i18n } = useTranslation();
  if (!speed) return t('field.none');
  const percent = numberFormat(i18n.language, {
    style: 'percent',
    signDisplay: 'exceptZero',
    maximumFractionDigits: 0,
  }).format(speed.deviation);
  return (
    <>
      <div>{formatMetric(speed.value, undefined, i18n.language)}</div>
      {speed.straggler ? (
        <span className={classes.straggler} title={t('job.stragglerHint')}>
          <IconTrendingDown size={14} aria-hidden />
          {t('job.straggler', { percent })}
        </span>
      ) : (
        <span className={classes.small} title={t('job.medianHint')}>
          {percent}
        </span>
      )}
    </>
  );
}
