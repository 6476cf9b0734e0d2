import { Chip, Text, UnstyledButton } from '@mantine/core';
import { IconAlertTriangleFilled, IconInfoCircle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { type ClusterEvent, runEventsQuery } from '../api/cluster';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { Ago } from '../format/Ago';
import runClasses from '../runs/RunPage.module.css';
import type { RunSearch, ShowPatch } from '../runs/runSearch';
import { type Column, DataTable } from '../table/DataTable';
import { SearchField } from '../table/SearchField';
import classes from './Cluster.module.css';
import { MissingRights } from './MissingRights';

interface EventsTabProps {
  run: Run;
  search: RunSearch;
  onShow: ShowPatch;
  onShowStep: (node: string) => void;
}

const isWarning = ({ type }: ClusterEvent) => type === 'Warning';

/** What Kubernetes tells of the run's objects, the newest first. */
export function EventsTab({ run, search, onShow, onShowStep }: EventsTabProps) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(runEventsQuery(run));
  const columns = useColumns(onShowStep);
  const what = t('events.await');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Awaiting what={what} rows={6} />;
  const events = data.events ?? [];
  const words = (search.q ?? '').toLowerCase();
  const shown = events.filter(
    (event) =>
      (search.only !== 'warnings' || isWarning(event)) &&
      [event.reason, event.name, event.message, event.step_name].some((text) => text?.toLowerCase().includes(words)),
  );
  return (
    <div className={classes.section}>
      <MissingRights missing={data.missing} />
      {events.length === 0 ? (
        <Text c="dimmed" p="lg" role="status">
          {t('events.none')}
        </Text>
      ) : (
        <div className="panel">
          <div className={classes.filters}>
            <SearchField
              size="xs"
              w={200}
              aria-label={t('events.find')}
              placeholder={t('events.find')}
              q={search.q}
              onSearch={(q) => onShow({ q })}
            />
            <Chip
              size="xs"
              variant="outline"
              checked={search.only === 'warnings'}
              onChange={(only) => onShow({ only: only ? 'warnings' : undefined })}
            >
              {t('events.warnings', { count: events.filter(isWarning).length })}
            </Chip>
            <Text size="xs" c="dimmed" role="status">
              {t('events.shown', { shown: shown.length, count: events.length })}
            </Text>
            <Text size="xs" c="dimmed">
              {t('events.kept')}
            </Text>
          </div>
          {shown.length === 0 ? (
            <Text c="dimmed" p="lg">
              {t('list.noneText')}
            </Text>
          ) : (
            <DataTable
              bare
              caption={t('list.caption', { what: t('run.events'), count: shown.length })}
              columns={columns}
              rows={shown}
              rowID={(event) => [event.kind, event.name, event.reason, event.message, event.source].join(' ')}
            />
          )}
        </div>
      )}
    </div>
  );
}

function useColumns(onShowStep: (node: string) => void): Column<ClusterEvent>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        id: 'type',
        header: t('field.type'),
        cell: (event) => (
          <span className={classes.eventType} data-tone={isWarning(event) ? 'warn' : 'idle'}>
            {isWarning(event) ? (
              <IconAlertTriangleFilled size={15} aria-hidden />
            ) : (
              <IconInfoCircle size={15} aria-hidden />
            )}
            {event.reason}
          </span>
        ),
      },
      {
        id: 'message',
        header: t('field.message'),
        cell: (event) => (
          <div className={classes.eventMessage}>
            {event.message}
            <Text size="xs" c="dimmed" className="break">
              {[event.kind, event.name].join(' ')}
              {event.source && ` · ${event.source}`}
            </Text>
          </div>
        ),
      },
      {
        id: 'step',
        header: t('field.step'),
        cell: (event) =>
          event.node_id ? (
            <UnstyledButton
              className={`${runClasses.stepButton} ${classes.step}`}
              onClick={() => onShowStep(event.node_id ?? '')}
            >
              {event.step_name || event.node_id}
            </UnstyledButton>
          ) : (
            t('field.none')
          ),
      },
      {
        id: 'count',
        header: t('events.count'),
        align: 'right',
        cell: (row) => row.count ?? 1,
      },
      {
        id: 'last',
        header: t('events.last'),
        cell: (event) => (
          <>
            <Ago at={event.last_at} />
            {event.first_at !== event.last_at && (
              <Text size="xs" c="dimmed">
                {t('events.since')} <Ago at={event.first_at} />
              </Text>
            )}
          </>
        ),
      },
    ],
    [t, onShowStep],
  );
}
