import { Group, Text } from '@mantine/core';
import { IconCalendarPlus, IconCalendarRepeat } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { type Job, scheduledRunsQuery, schedulesQuery } from '../api/schedules';
import { useRunsEvents } from '../api/useRunsEvents';
import { ButtonLink, TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Empty } from '../feedback/Empty';
import { Ago } from '../format/Ago';
import { useMinute } from '../format/useNow';
import type { Column } from '../table/DataTable';
import { FilterBar } from '../table/ListControls';
import { PagedTable } from '../table/PagedTable';
import { useListURL } from '../table/useListURL';
import { RunStrip } from './RunStrip';
import { PauseButton, ScheduleMenu } from './ScheduleActions';
import { ScheduleState } from './ScheduleState';
import { TriggerText } from './TriggerText';
import { triggerOf, upcoming } from './trigger';

const route = getRouteApi('/schedules');

/** All schedules: when each runs next and last, and how its last runs went. */
export function SchedulesPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const url = useListURL(search);
  const list = useQuery({ ...schedulesQuery(search), placeholderData: keepPreviousData });
  const runs = useQuery(scheduledRunsQuery);
  useRunsEvents();
  const columns = useColumns(runs.data);

  const createButton = (
    <ButtonLink to="/runs/new" search={{ recurring: true }} leftSection={<IconCalendarPlus size={16} aria-hidden />}>
      {t('schedules.create')}
    </ButtonLink>
  );
  return (
    <Page title={t('pages.schedules')} actions={createButton}>
      <FilterBar q={search.q} onFilter={(q) => url.change({ q }, true)} />
      <PagedTable
        list={{
          ...list,
          error: list.error ?? runs.error,
          refetch: () => Promise.all([list.refetch(), runs.refetch()]),
        }}
        what={t('schedules.await')}
        title={t('pages.schedules')}
        columns={columns}
        search={search}
        url={url}
        empty={
          <Empty
            icon={<IconCalendarRepeat aria-hidden />}
            title={t('schedules.emptyTitle')}
            text={t('schedules.emptyText')}
          >
            {createButton}
          </Empty>
        }
      />
    </Page>
  );
}

const stripLength = 10;

/** The newest runs of one schedule, out of those of all. */
export const runsOf = (job: Job, runs: Run[] | undefined) => runs?.filter((run) => run.schedule?.id === job.id) ?? [];

function useColumns(runs: Run[] | undefined): Column<Job>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('field.name'),
        sorts: true,
        cell: (row) => (
          <TextLink to="/schedules/$scheduleId" params={{ scheduleId: row.id }} fw={550} className="name">
            {row.name}
          </TextLink>
        ),
      },
      {
        id: 'state',
        header: t('field.status'),
        cell: (job) => <ScheduleState job={job} />,
      },
      { id: 'when', header: t('schedules.when'), cell: (row) => <TriggerText trigger={triggerOf(row)} /> },
      { id: 'next', header: t('schedules.next'), cell: (row) => <NextTime job={row} /> },
      {
        id: 'last',
        header: t('schedules.last'),
        cell: (row) => {
          const last = runsOf(row, runs)[0];
          return <Ago at={last?.scheduled_at ?? last?.created_at} />;
        },
      },
      {
        id: 'runs',
        header: t('schedules.lastRuns'),
        width: 290,
        cell: (row) =>
          runs ? (
            <RunStrip runs={runsOf(row, runs).slice(0, stripLength)} empty={t('schedules.noneLately')} />
          ) : (
            <Text size="sm" c="dimmed">
              …
            </Text>
          ),
      },
      {
        id: 'actions',
        header: t('pipelines.actions'),
        align: 'right',
        width: 150,
        cell: (job) => (
          <Group gap={4} justify="flex-end" wrap="nowrap">
            {job.status !== 'Succeeded' && <PauseButton job={job} compact />}
            <ScheduleMenu job={job} />
          </Group>
        ),
      },
    ],
    [t, runs],
  );
}

/** When a schedule's next run starts; a paused one has none. */
export function NextTime({ job }: { job: Job }) {
  const { t } = useTranslation();
  const now = useMinute();
  const [next] = job.enabled ? upcoming(triggerOf(job), Date.parse(job.created_at ?? ''), now, 1) : [];
  return next === undefined ? t('field.none') : <Ago at={next} />;
}
