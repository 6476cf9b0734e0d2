import { Group, MultiSelect, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconArchive, IconPlayerPlay } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { newestFirst } from '../api/pipelines';
import { pinnedRunsQuery, type RunsSearch, runsQuery } from '../api/runs';
import { useRunsEvents } from '../api/useRunsEvents';
import { ButtonLink, TextLink } from '../app/links';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { Ago } from '../format/Ago';
import { Duration } from '../format/Duration';
import { formatMetric } from '../format/format';
import { useStatusWord } from '../status/StatusBadge';
import { isFinal, runStatuses } from '../status/status';
import { type Column, DataTable } from '../table/DataTable';
import { Pager } from '../table/ListControls';
import { NoMatch } from '../table/NoMatch';
import { useListURL } from '../table/useListURL';
import { useChosen } from '../table/useTyped';
import { RunStatus } from '../waiting/RunStatus';
import { BulkBar } from './BulkBar';
import { Choice, ChooseAll, ChooseOne } from './Choice';
import { ColumnMenu } from './ColumnMenu';
import { GroupBy } from './GroupBy';
import { GroupTable } from './GroupTable';
import { metricColumns, metricNames, metricsNamed } from './metricColumns';
import { Delta, PinButton, Pins } from './Pins';
import { SearchLine } from './SearchLine';
import { ViewMenu } from './ViewMenu';

interface RunsTableProps {
  search: RunsSearch;
  /** Only the runs of this experiment. */
  experimentID?: string;
  /** Only the runs of this schedule. */
  scheduleID?: string;
}

/** The runs, all or those of an experiment or a schedule, kept up to date by events; what is shown stands in the URL. */
export function RunsTable({ search, experimentID, scheduleID }: RunsTableProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { change, select, sort, turn } = useListURL(search);
  const { data, error, isPending, refetch } = useQuery({
    ...runsQuery(search, { experimentID, scheduleID }, client),
    enabled: !search.by,
    placeholderData: keepPreviousData,
  });
  useRunsEvents({ experimentID, scheduleID });
  const met = useMemo(() => metricNames(data?.items ?? []), [data]);
  const metrics = metricColumns(search.metrics, met);
  const params = search.params ?? [];
  const [chosen, choose] = useChosen(search.chosen ?? [], (ids) =>
    select({ chosen: ids.length > 0 ? ids : undefined }),
  );
  const pins = search.pins ?? [];
  const pinned = useQuery({ ...pinnedRunsQuery(pins), placeholderData: keepPreviousData });
  const top = pins.flatMap((id) => pinned.data?.find((run) => run.id === id) ?? []);
  const rows = [...top, ...(data?.items ?? []).filter(({ id }) => !pins.includes(id))];
  const onPin = (ids: string[]) => select({ pins: ids.length > 0 ? ids : undefined });
  const columns = useColumns(metrics, params, !experimentID);
  const filtered = Boolean(search.q || search.status?.length || search.token);

  return (
    <Stack gap="md">
      <Group gap="sm" align="flex-start">
        <SearchLine q={search.q} onSearch={(q) => change({ q }, true)} />
        <StatusFilter chosen={search.status ?? []} onChange={(status) => change({ status })} />
        <ColumnMenu
          met={met}
          metrics={metrics}
          params={params}
          onMetrics={(names) => select({ metrics: names })}
          onParams={(names) => select({ params: names?.length ? names : undefined })}
        />
        <SegmentedControl
          aria-label={t('runs.archive')}
          value={search.archived ? 'archived' : 'active'}
          data={[
            { value: 'active', label: t('runs.active') },
            { value: 'archived', label: t('runs.archived') },
          ]}
          onChange={(value) => change({ archived: value === 'archived' || undefined, chosen: undefined })}
        />
        <GroupBy by={search.by} onChange={(by) => change({ by, sort: undefined, dir: undefined })} />
        {!experimentID && !scheduleID && <ViewMenu search={search} />}
      </Group>
      {error && (
        <Failure title={t('failure.title', { what: t('await.runs') })} error={error} onRetry={() => void refetch()} />
      )}
      <BulkBar
        chosen={chosen.map((id) => data?.items.find((run) => run.id === id) ?? ({ id, name: id } as Run))}
        archived={search.archived ?? false}
        onClear={() => choose([])}
      />
      {search.by && (
        <GroupTable
          search={search}
          scope={{ experimentID, scheduleID }}
          by={search.by}
          onOpen={(term) => change({ by: undefined, q: [search.q, term].filter(Boolean).join(' ') })}
        />
      )}
      {!search.by && isPending && <Awaiting what={t('await.runs')} rows={6} />}
      {!search.by && data && rows.length > 0 && (
        <Stack gap="sm">
          <Choice value={{ runs: rows, chosen, onChoose: choose }}>
            <Pins value={{ pins, baseline: top[0], onPin }}>
              <DataTable
                caption={t('list.caption', { what: t('runs.title'), count: rows.length })}
                columns={columns}
                rows={rows}
                rowID={(run) => run.id}
                pinned={top.length}
                sorting={{ sort: search.sort ?? newestFirst.sort, dir: search.dir ?? newestFirst.dir }}
                onSort={sort}
              />
            </Pins>
          </Choice>
          <Pager search={search} shown={data.items.length} total={data.total} next={data.next} turn={turn} />
        </Stack>
      )}
      {!search.by &&
        data?.items.length === 0 &&
        (filtered ? (
          <NoMatch onClear={() => change({ q: undefined, status: undefined })} />
        ) : search.archived ? (
          <Empty icon={<IconArchive aria-hidden />} title={t('runs.emptyArchive')} text={t('runs.emptyArchiveText')} />
        ) : (
          <Empty
            icon={<IconPlayerPlay aria-hidden />}
            title={
              experimentID ? t('runs.emptyExperiment') : scheduleID ? t('runs.emptySchedule') : t('runs.emptyTitle')
            }
            text={scheduleID ? t('runs.emptyScheduleText') : t('runs.emptyText')}
          >
            {!scheduleID && (
              <ButtonLink to="/runs/new" search={{ experiment: experimentID }}>
                {t('runs.createRun')}
              </ButtonLink>
            )}
          </Empty>
        ))}
    </Stack>
  );
}

function StatusFilter({ chosen, onChange }: { chosen: string[]; onChange: (status: string[] | undefined) => void }) {
  const { t } = useTranslation();
  const word = useStatusWord();
  return (
    <MultiSelect
      aria-label={t('runs.filterStatus')}
      placeholder={chosen.length === 0 ? t('runs.allStatuses') : undefined}
      data={runStatuses.map((status) => ({ value: status, label: word(status) }))}
      value={chosen}
      onChange={(status) => onChange(status.length > 0 ? status : undefined)}
      clearable
      clearButtonProps={{ 'aria-label': t('action.clearFilter') }}
      miw={190}
    />
  );
}

function useColumns(metrics: string[], params: string[], withExperiment: boolean): Column<Run>[] {
  const { t } = useTranslation();
  // The names are made anew at each reading; their text tells whether they changed.
  const names = JSON.stringify({ metrics, params });
  return useMemo(() => {
    const shown = JSON.parse(names) as { metrics: string[]; params: string[] };
    return runColumns(t, shown.metrics, shown.params, withExperiment);
  }, [t, names, withExperiment]);
}

type Translate = TFunction;

function runColumns(t: Translate, metrics: string[], params: string[], withExperiment: boolean): Column<Run>[] {
  const columns: Column<Run>[] = [
    {
      id: 'chosen',
      meta: { width: 80 },
      header: ChooseAll,
      cell: ({ row }) => (
        <Group gap={6} wrap="nowrap">
          <ChooseOne run={row.original} />
          <PinButton run={row.original} />
        </Group>
      ),
    },
    {
      id: 'name',
      header: t('field.name'),
      enableSorting: true,
      meta: { lead: true },
      cell: ({ row }) => (
        <TextLink to="/runs/$runId" params={{ runId: row.original.id }} fw={550} className="name">
          {row.original.name}
        </TextLink>
      ),
    },
    {
      id: 'status',
      header: t('field.status'),
      enableSorting: true,
      cell: ({ row }) => <RunStatus run={row.original} />,
    },
    {
      id: 'duration',
      header: t('field.duration'),
      meta: { width: 110 },
      cell: ({ row: { original: run } }) => (
        <Duration start={run.started_at} end={run.finished_at} live={!isFinal(run.status)} />
      ),
    },
    {
      id: 'pipeline',
      header: t('field.pipeline'),
      cell: ({ row }) => <PipelineLink run={row.original} />,
    },
    {
      id: 'created_at',
      header: t('field.started'),
      enableSorting: true,
      meta: { width: 130 },
      cell: ({ row: { original: run } }) => <Ago at={run.started_at ?? run.created_at} />,
    },
  ];
  if (withExperiment) {
    columns.splice(4, 0, {
      id: 'experiment',
      header: t('field.experiment'),
      cell: ({ row }) => <ExperimentLink run={row.original} />,
    });
  }
  for (const name of params) {
    columns.push({
      id: `parameter:${name}`,
      header: name,
      cell: ({ row }) => <ParameterCell run={row.original} name={name} />,
    });
  }
  for (const name of metrics) {
    columns.push({
      id: `metric:${name}`,
      header: name,
      enableSorting: true,
      meta: { align: 'right' },
      cell: ({ row }) => <MetricCell run={row.original} name={name} />,
    });
  }
  return columns;
}

function ParameterCell({ run, name }: { run: Run; name: string }) {
  const { t } = useTranslation();
  const value = run.parameters?.find((parameter) => parameter.name === name)?.value;
  return (
    <Text span size="sm" className="mono" lineClamp={1} maw={260} title={value}>
      {value || t('field.none')}
    </Text>
  );
}

function MetricCell({ run, name }: { run: Run; name: string }) {
  const { t, i18n } = useTranslation();
  const values = metricsNamed(run, name);
  const first = values[0];
  if (!first)
    return (
      <Text span c="dimmed">
        {t('field.none')}
      </Text>
    );
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <Delta run={run} name={name} />
      <data value={first.value}>{formatMetric(first.value, first.format, i18n.language)}</data>
      {values.length > 1 && (
        <Text span size="xs" c="dimmed">
          {t('runs.moreValues', { count: values.length - 1 })}
        </Text>
      )}
    </Group>
  );
}

export function PipelineLink({ run }: { run: Run }) {
  const { t } = useTranslation();
  if (!run.pipeline?.id) return <>{run.pipeline?.name || t('runs.inline')}</>;
  return (
    <TextLink
      to="/pipelines/$pipelineId"
      params={{ pipelineId: run.pipeline.id }}
      search={{ version: run.pipeline.version_id || undefined }}
      className="name"
    >
      {run.pipeline.name}
    </TextLink>
  );
}

export function ExperimentLink({ run }: { run: Run }) {
  const { t } = useTranslation();
  if (!run.experiment?.id) return <>{t('field.none')}</>;
  return (
    <TextLink to="/experiments/$experimentId" params={{ experimentId: run.experiment.id }} className="name">
      {run.experiment.name}
    </TextLink>
  );
}
