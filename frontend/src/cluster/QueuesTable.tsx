import { Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { PodGroup, Queue } from '../api/cluster';
import { TextLink } from '../app/links';
import { Ago } from '../format/Ago';
import { useTerm } from '../i18n/useTerm';
import { type Column, DataTable } from '../table/DataTable';
import { formatAmount, formatAmounts, isShown, shortName } from './amount';
import classes from './Cluster.module.css';
import { UseBar } from './UseBar';

/** Volcano's queues: what each may have, has, and who waits in it. */
export function QueuesTable({ queues }: { queues: Queue[] }) {
  const { t } = useTranslation();
  const columns = useColumns();
  return (
    <DataTable
      caption={t('list.caption', { what: t('cluster.queues'), count: queues.length })}
      columns={columns}
      rows={queues}
      rowID={(queue) => queue.name ?? ''}
    />
  );
}

function useColumns(): Column<Queue>[] {
  const { t } = useTranslation();
  const state = useTerm('queueState');
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('cluster.queue'),
        lead: true,
        cell: (queue) => (
          <>
            <Text size="sm" fw={550} className="name">
              {queue.name}
            </Text>
            <div className={classes.small}>
              {[
                queue.state === 'Unknown' ? '' : state(queue.state),
                queue.parent && t('cluster.parent', { queue: queue.parent }),
              ]
                .filter(Boolean)
                .join(' · ')}
            </div>
          </>
        ),
      },
      { id: 'weight', header: t('cluster.weight'), align: 'right', cell: (row) => row.weight },
      { id: 'use', header: t('cluster.allocated'), cell: (row) => <Allocated queue={row} /> },
      {
        id: 'running',
        header: t('cluster.gangsRun'),
        align: 'right',
        cell: (row) => row.running ?? 0,
      },
      { id: 'waiting', header: t('cluster.gangsWait'), cell: (row) => <Gangs gangs={row.waiting} /> },
    ],
    [t, state],
  );
}

function Allocated({ queue }: { queue: Queue }) {
  const { t, i18n } = useTranslation();
  const resources = (queue.resources ?? []).filter(({ resource }) => isShown(resource));
  if (resources.length === 0) return <span className={classes.small}>{t('cluster.nothing')}</span>;
  return (
    <Stack gap={6}>
      {resources.map(({ resource = '', allocated = 0, capability, deserved }) => {
        const text = (value: number) => formatAmount(resource, value, i18n.language);
        const limit = capability == null ? t('cluster.noLimit') : t('cluster.limit', { amount: text(capability) });
        const share = !deserved ? '' : ` · ${t('cluster.deserves', { amount: text(deserved) })}`;
        return (
          <div key={resource} className={classes.share}>
            <span className={classes.small}>{shortName(resource)}</span>
            <UseBar
              resource={resource}
              used={allocated}
              of={capability ?? undefined}
              label={`${shortName(resource)}: ${text(allocated)} · ${limit}${share}`}
            />
            <span className={classes.small}>{`${limit}${share}`}</span>
          </div>
        );
      })}
    </Stack>
  );
}

/** Gangs that wait, the oldest first, and what each needs. */
export function Gangs({ gangs = [] }: { gangs: PodGroup[] | undefined }) {
  const { t, i18n } = useTranslation();
  if (gangs.length === 0) return <span className={classes.small}>{t('cluster.noGangs')}</span>;
  return (
    <ol className={classes.holders}>
      {gangs.map((gang) => (
        <li key={`${gang.namespace}/${gang.name}`}>
          {gang.run_id ? (
            <TextLink to="/runs/$runId" params={{ runId: gang.run_id }} className="name">
              {gang.run_name || gang.name}
            </TextLink>
          ) : (
            <span>{gang.name}</span>
          )}
          <span className={classes.small}>
            {[t('cluster.needs', { count: gang.min_available ?? 0 }), formatAmounts(gang.requested, i18n.language)]
              .filter(Boolean)
              .join(' · ')}
            {' · '}
            <Ago at={gang.created_at} />
          </span>
          {gang.message && <span className={`${classes.small} break`}>{gang.message}</span>}
        </li>
      ))}
    </ol>
  );
}
