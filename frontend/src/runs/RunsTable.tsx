import { Button, Group, Input, Stack } from '@mantine/core';
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
import { ButtonLink } from '../app/links';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { Segments } from '../feedback/Segments';
import { StandIn } from '../feedback/StandIn';
import { withTexts } from '../i18n';
import { Choice } from '../table/Choice';
import { DataTable } from '../table/DataTable';
import { Pager } from '../table/ListControls';
import { NoMatch } from '../table/NoMatch';
import { useListURL } from '../table/useListURL';
import { useChosen } from '../table/useTyped';
import { Bars, greatestOf } from './Bars';
import { metricColumns, metricNames } from './metricColumns';
import { Pause, useHold } from './Pause';
import { Pins } from './Pins';
import { useRunColumns } from './runColumns';
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
  const listed = runsQuery(search, scope, client);
  const live = useQuery({
    ...listed,
    enabled: !search.by,
    placeholderData: keepPreviousData,
  });
  const { error, isPending, refetch } = live;
  useRunsEvents(scope);
  const pins = search.pins ?? [];
  const pinned = useQuery({ ...pinnedRunsQuery(pins), placeholderData: keepPreviousData });
  const {
    page: data,
    top,
    pause,
  } = useHold(
    JSON.stringify(listed.queryKey),
    live.data,
    pins.flatMap((id) => pinned.data?.find((run) => run.id === id) ?? []),
    !live.isPlaceholderData,
  );
  const met = useMemo(() => metricNames(data?.items ?? []), [data]);
  const metrics = metricColumns(search.metrics, met);
  const params = search.params ?? [];
  const [chosen, choose] = useChosen(search.chosen ?? [], (ids) =>
    select({ chosen: ids.length > 0 ? ids : undefined }),
  );
  const view = useCurrentView(search);
  const rows = [...top, ...(data?.items ?? []).filter(({ id }) => !pins.includes(id))];
  const bars = search.bars ? greatestOf(rows, metrics) : undefined;
  const onPin = (ids: string[]) => select({ pins: ids.length > 0 ? ids : undefined });
  const columns = useRunColumns({
    metrics,
    params,
    labels: search.labels ?? false,
    experiment: !experimentID,
    ofPipeline: Boolean(pipelineID),
  });
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
              labels={search.labels ?? false}
              bars={search.bars ?? false}
              onBars={(bars) => select({ bars })}
              onLabels={(labels) => select({ labels })}
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
        {!search.by && <Pause {...pause} />}
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
              <Bars value={bars}>
                <DataTable
                  caption={t('list.caption', { what: t('pages.runs'), count: rows.length })}
                  columns={columns}
                  rows={rows}
                  rowID={(run) => run.id}
                  pinned={top.length}
                  sorting={{ sort: search.sort ?? newestFirst.sort, dir: search.dir ?? newestFirst.dir }}
                  onSort={sort}
                />
              </Bars>
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

function emptyTexts({ experimentID, scheduleID, pipelineID }: RunsScope, t: TFunction) {
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
