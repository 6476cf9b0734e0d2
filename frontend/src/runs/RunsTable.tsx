import { Button, Group, Input, Stack, Text } from '@mantine/core';
import {
  IconArchive,
  IconBookmark,
  IconChevronDown,
  IconColumns3,
  IconPlayerPlay,
  IconStack2,
} from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { newestFirst } from '../api/pipelines';
import { pinnedRunsQuery, type RunsScope, type RunsSearch, runsQuery } from '../api/runs';
import { useRunsEvents } from '../api/useRunsEvents';
import { ButtonLink, TextLink } from '../app/links';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { Segments } from '../feedback/Segments';
import { StandIn } from '../feedback/StandIn';
import { Ago } from '../format/Ago';
import { Duration } from '../format/Duration';
import { formatMetric } from '../format/format';
import { withTexts } from '../i18n';
import { isFinal } from '../status/status';
import { Choice, ChooseAll, ChooseOne } from '../table/Choice';
import { type Column, DataTable } from '../table/DataTable';
import { Pager } from '../table/ListControls';
import { NoMatch } from '../table/NoMatch';
import { useListURL } from '../table/useListURL';
import { useChosen } from '../table/useTyped';
import { RunStatus } from '../waiting/RunStatus';
import { metricColumns, metricNames, metricsNamed } from './metricColumns';
import { Delta, PinButton, Pins } from './Pins';
import { SearchLine } from './SearchLine';
import { useCurrentView } from './views';

const load = {
  bulkBar: withTexts(() => import('./BulkBar')),
  columnMenu: withTexts(() => import('./ColumnMenu')),
  groupBy: withTexts(() => import('./GroupBy')),
  groupTable: withTexts(() => import('./GroupTable')),
  statusFilter: withTexts(() => import('./StatusFilter')),
  viewMenu: withTexts(() => import('./ViewMenu')),
};
const BulkBar = lazy(load.bulkBar);
const ColumnMenu = lazy(load.columnMenu);
const GroupBy = lazy(load.groupBy);
const GroupTable = lazy(load.groupTable);
const StatusFilter = lazy(load.statusFilter);
const ViewMenu = lazy(load.viewMenu);

/** Without an id the runs of all experiments, schedules and pipelines. */
interface RunsTableProps extends RunsScope {
  search: RunsSearch;
}

/** The runs, all or those of an experiment, a schedule or a pipeline, kept up to date by events; what is shown stands in the URL. */
export function RunsTable({ search, ...scope }: RunsTableProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { experimentID, scheduleID, pipelineID } = scope;
  const { change, select, sort, turn } = useListURL(search);
  const { data, error, isPending, refetch } = useQuery({
    ...runsQuery(search, scope, client),
    enabled: !search.by,
    placeholderData: keepPreviousData,
  });
  useRunsEvents(scope);
  const met = useMemo(() => metricNames(data?.items ?? []), [data]);
  const metrics = metricColumns(search.metrics, met);
  const params = search.params ?? [];
  const [chosen, choose] = useChosen(search.chosen ?? [], (ids) =>
    select({ chosen: ids.length > 0 ? ids : undefined }),
  );
  const view = useCurrentView(search);
  const pins = search.pins ?? [];
  const pinned = useQuery({ ...pinnedRunsQuery(pins), placeholderData: keepPreviousData });
  const top = pins.flatMap((id) => pinned.data?.find((run) => run.id === id) ?? []);
  const rows = [...top, ...(data?.items ?? []).filter(({ id }) => !pins.includes(id))];
  const onPin = (ids: string[]) => select({ pins: ids.length > 0 ? ids : undefined });
  const columns = useColumns(metrics, params, !experimentID, Boolean(pipelineID));
  const filtered = Boolean(search.q || search.status?.length || search.token);

  return (
    <Stack gap="md">
      <Group gap="sm" align="flex-start">
        <SearchLine q={search.q} onSearch={(q) => change({ q }, true)} />
        <StandIn
          load={load.statusFilter}
          wanted={Boolean(search.status?.length)}
          button={<Closed label={t('runs.filterStatus')} text={t('runs.allStatuses')} w={190} />}
        >
          {(pressed) => (
            <StatusFilter chosen={search.status ?? []} pressed={pressed} onChange={(status) => change({ status })} />
          )}
        </StandIn>
        <StandIn
          load={load.columnMenu}
          button={
            <Button variant="default" aria-haspopup="menu" leftSection={<IconColumns3 size={16} aria-hidden />}>
              {t('runs.columns')}
            </Button>
          }
        >
          {() => (
            <ColumnMenu
              met={met}
              metrics={metrics}
              params={params}
              onMetrics={(names) => select({ metrics: names })}
              onParams={(names) => select({ params: names?.length ? names : undefined })}
            />
          )}
        </StandIn>
        <Segments
          aria-label={t('runs.archive')}
          value={search.archived ? 'archived' : 'active'}
          data={[
            { value: 'active', label: t('runs.active') },
            { value: 'archived', label: t('runs.archived') },
          ]}
          onChange={(value) => change({ archived: value === 'archived' || undefined, chosen: undefined })}
        />
        <StandIn
          load={load.groupBy}
          wanted={Boolean(search.by)}
          button={
            <Closed
              label={t('runs.groupBy')}
              text={t('runs.groupBy')}
              w={225}
              icon={<IconStack2 size={16} aria-hidden />}
            />
          }
        >
          {(pressed) => (
            <GroupBy
              by={search.by}
              pressed={pressed}
              onChange={(by) => change({ by, sort: undefined, dir: undefined })}
            />
          )}
        </StandIn>
        {!experimentID && !scheduleID && !pipelineID && (
          <StandIn
            load={load.viewMenu}
            button={
              <Button variant="default" aria-haspopup="menu" leftSection={<IconBookmark size={16} aria-hidden />}>
                {view?.name ?? t('runs.views')}
              </Button>
            }
          >
            {() => <ViewMenu search={search} />}
          </StandIn>
        )}
      </Group>
      {error && (
        <Failure title={t('failure.title', { what: t('await.runs') })} error={error} onRetry={() => void refetch()} />
      )}
      <Suspense>
        {chosen.length > 0 && (
          <BulkBar
            chosen={chosen.map((id) => data?.items.find((run) => run.id === id) ?? ({ id, name: id } as Run))}
            archived={search.archived ?? false}
            onClear={() => choose([])}
          />
        )}
      </Suspense>
      {search.by && (
        <Suspense fallback={<Awaiting what={t('await.runs')} rows={4} />}>
          <GroupTable
            search={search}
            scope={scope}
            by={search.by}
            onOpen={(term) => change({ by: undefined, q: [search.q, term].filter(Boolean).join(' ') })}
          />
        </Suspense>
      )}
      {!search.by && isPending && <Awaiting what={t('await.runs')} rows={6} />}
      {!search.by && data && rows.length > 0 && (
        <Stack gap="sm">
          <Choice value={{ rows, chosen, onChoose: choose }}>
            <Pins value={{ pins, baseline: top[0], onPin }}>
              <DataTable
                caption={t('list.caption', { what: t('pages.runs'), count: rows.length })}
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
          <Empty icon={<IconPlayerPlay aria-hidden />} {...emptyTexts(scope, t)}>
            {!scheduleID && (
              <ButtonLink to="/runs/new" search={{ experiment: experimentID, pipeline: pipelineID }}>
                {t('runs.createRun')}
              </ButtonLink>
            )}
          </Empty>
        ))}
    </Stack>
  );
}

interface ClosedProps {
  label: string;
  text: string;
  w: number;
  icon?: ReactNode;
}

function emptyTexts({ experimentID, scheduleID, pipelineID }: RunsScope, t: Translate) {
  if (scheduleID) return { title: t('runs.emptySchedule'), text: t('runs.emptyScheduleText') };
  if (pipelineID) return { title: t('runs.emptyPipeline'), text: t('runs.emptyPipelineText') };
  return { title: t(experimentID ? 'runs.emptyExperiment' : 'runs.emptyTitle'), text: t('runs.emptyText') };
}

/** Looks like a field with choices. */
function Closed({ label, text, w, icon, ...rest }: ClosedProps) {
  return (
    <Input
      {...rest}
      component="button"
      type="button"
      pointer
      w={w}
      aria-label={label}
      aria-haspopup="listbox"
      leftSection={icon}
      rightSection={<IconChevronDown size={14} aria-hidden />}
    >
      <Input.Placeholder>{text}</Input.Placeholder>
    </Input>
  );
}

function useColumns(metrics: string[], params: string[], withExperiment: boolean, ofPipeline: boolean): Column<Run>[] {
  const { t } = useTranslation();
  // The names are made anew at each reading; their text tells whether they changed.
  const names = JSON.stringify({ metrics, params });
  return useMemo(() => {
    const shown = JSON.parse(names) as { metrics: string[]; params: string[] };
    return runColumns(t, shown.metrics, shown.params, withExperiment, ofPipeline);
  }, [t, names, withExperiment, ofPipeline]);
}

type Translate = TFunction;

function runColumns(
  t: Translate,
  metrics: string[],
  params: string[],
  withExperiment: boolean,
  ofPipeline: boolean,
): Column<Run>[] {
  const columns: Column<Run>[] = [
    {
      id: 'chosen',
      width: 80,
      header: ChooseAll,
      cell: (row) => (
        <Group gap={6} wrap="nowrap">
          <ChooseOne row={row} />
          <PinButton run={row} />
        </Group>
      ),
    },
    {
      id: 'name',
      header: t('field.name'),
      sorts: true,
      lead: true,
      cell: (row) => (
        <TextLink to="/runs/$runId" params={{ runId: row.id }} fw={550} className="name">
          {row.name}
        </TextLink>
      ),
    },
    {
      id: 'status',
      header: t('field.status'),
      sorts: true,
      cell: (row) => <RunStatus run={row} />,
    },
    {
      id: 'duration',
      header: t('field.duration'),
      width: 110,
      cell: (run) => <Duration start={run.started_at} end={run.finished_at} live={!isFinal(run.status)} />,
    },
    {
      id: 'pipeline',
      header: t(ofPipeline ? 'field.version' : 'field.pipeline'),
      cell: (row) => <PipelineLink run={row} text={ofPipeline ? row.pipeline?.version_name : undefined} />,
    },
    {
      id: 'created_at',
      header: t('field.started'),
      sorts: true,
      width: 130,
      cell: (run) => <Ago at={run.started_at ?? run.created_at} />,
    },
  ];
  if (withExperiment) {
    columns.splice(4, 0, {
      id: 'experiment',
      header: t('field.experiment'),
      cell: (row) => <ExperimentLink run={row} />,
    });
  }
  for (const name of params) {
    columns.push({
      id: `parameter:${name}`,
      header: name,
      cell: (row) => <ParameterCell run={row} name={name} />,
    });
  }
  for (const name of metrics) {
    columns.push({
      id: `metric:${name}`,
      header: name,
      sorts: true,
      align: 'right',
      cell: (row) => <MetricCell run={row} name={name} />,
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

/** Leads to the version that a run was made from; it says the pipeline's name unless it is given a text. */
export function PipelineLink({ run, text }: { run: Run; text?: string }) {
  const { t } = useTranslation();
  if (!run.pipeline?.id) return <>{run.pipeline?.name || t('runs.inline')}</>;
  return (
    <TextLink
      to="/pipelines/$pipelineId"
      params={{ pipelineId: run.pipeline.id }}
      search={{ version: run.pipeline.version_id || undefined }}
      className="name"
    >
      {text || run.pipeline.name}
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
