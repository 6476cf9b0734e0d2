import { Button, Group, Menu, MultiSelect, Stack, Text } from '@mantine/core';
import { IconCheck, IconColumns3, IconPlayerPlay } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { newestFirst } from '../api/pipelines';
import { type RunsSearch, runsQuery } from '../api/runs';
import { ButtonLink, TextLink } from '../app/links';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { Duration, Time } from '../format/Duration';
import { formatMetric } from '../format/format';
import { StatusBadge, useStatusWord } from '../status/StatusBadge';
import { isFinal, runStatuses } from '../status/status';
import { type Column, DataTable } from '../table/DataTable';
import { FilterBar, Pager } from '../table/ListControls';
import { NoMatch } from '../table/NoMatch';
import { useListURL } from '../table/useListURL';
import { metricColumns, metricNames, metricsNamed } from './metricColumns';

interface RunsTableProps {
  search: RunsSearch;
  /** Only the runs of this experiment. */
  experimentID?: string;
}

/** The runs, all or an experiment's, with their metrics; what is shown stands in the URL. */
export function RunsTable({ search, experimentID }: RunsTableProps) {
  const { t } = useTranslation();
  const { change, sort, turn } = useListURL(search);
  const { data, error, isPending, refetch } = useQuery({
    ...runsQuery(search, experimentID),
    placeholderData: keepPreviousData,
  });
  const met = useMemo(() => metricNames(data?.items ?? []), [data]);
  const metrics = metricColumns(search.metrics, met);
  const columns = useColumns(metrics, !experimentID);
  const filtered = Boolean(search.q || search.status?.length || search.token);

  return (
    <Stack gap="md">
      <FilterBar q={search.q} onFilter={(q) => change({ q }, true)}>
        <StatusFilter chosen={search.status ?? []} onChange={(status) => change({ status })} />
        <MetricMenu met={met} shown={metrics} onChange={(chosen) => change({ metrics: chosen }, true)} />
      </FilterBar>
      {error && (
        <Failure title={t('failure.title', { what: t('await.runs') })} error={error} onRetry={() => void refetch()} />
      )}
      {isPending && <Awaiting what={t('await.runs')} rows={6} />}
      {data && data.items.length > 0 && (
        <Stack gap="sm">
          <DataTable
            caption={t('list.caption', { what: t('runs.title'), count: data.items.length })}
            columns={columns}
            rows={data.items}
            rowID={(run) => run.id}
            sorting={{ sort: search.sort ?? newestFirst.sort, dir: search.dir ?? newestFirst.dir }}
            onSort={sort}
          />
          <Pager search={search} shown={data.items.length} total={data.total} next={data.next} turn={turn} />
        </Stack>
      )}
      {data?.items.length === 0 &&
        (filtered ? (
          <NoMatch onClear={() => change({ q: undefined, status: undefined })} />
        ) : (
          <Empty
            icon={<IconPlayerPlay aria-hidden />}
            title={experimentID ? t('runs.emptyExperiment') : t('runs.emptyTitle')}
            text={t('runs.emptyText')}
          >
            <ButtonLink to="/runs/new" search={{ experiment: experimentID }}>
              {t('runs.createRun')}
            </ButtonLink>
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

interface MetricMenuProps {
  met: string[];
  shown: string[];
  onChange: (chosen: string[] | undefined) => void;
}

function MetricMenu({ met, shown, onChange }: MetricMenuProps) {
  const { t } = useTranslation();
  // A column may be chosen although no run on this page has it.
  const offered = [...new Set([...met, ...shown])];
  return (
    <Menu closeOnItemClick={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconColumns3 size={16} aria-hidden />}>
          {t('runs.metricColumns')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {offered.length === 0 && <Menu.Label>{t('runs.noMetrics')}</Menu.Label>}
        {offered.map((name) => (
          <Menu.Item
            key={name}
            role="menuitemcheckbox"
            aria-checked={shown.includes(name)}
            leftSection={<IconCheck size={16} aria-hidden style={{ opacity: shown.includes(name) ? 1 : 0 }} />}
            onClick={() => onChange(shown.includes(name) ? shown.filter((other) => other !== name) : [...shown, name])}
          >
            {name}
          </Menu.Item>
        ))}
        {offered.length > 0 && (
          <>
            <Menu.Divider />
            <Menu.Item onClick={() => onChange(undefined)}>{t('runs.showAllMetrics')}</Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function useColumns(metrics: string[], withExperiment: boolean): Column<Run>[] {
  const { t } = useTranslation();
  // Metric names are made anew at each reading; their text tells whether they changed.
  const names = JSON.stringify(metrics);
  return useMemo(() => {
    const columns: Column<Run>[] = [
      {
        id: 'name',
        header: t('field.name'),
        enableSorting: true,
        cell: ({ row }) => (
          <TextLink to="/runs/$runId" params={{ runId: row.original.id }} fw={550} className="break">
            {row.original.name}
          </TextLink>
        ),
      },
      {
        id: 'status',
        header: t('field.status'),
        enableSorting: true,
        cell: ({ row }) => <StatusBadge phase={row.original.status} />,
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
        meta: { width: 200 },
        cell: ({ row: { original: run } }) => <Time at={run.started_at ?? run.created_at} />,
      },
    ];
    if (withExperiment) {
      columns.splice(3, 0, {
        id: 'experiment',
        header: t('field.experiment'),
        cell: ({ row }) => <ExperimentLink run={row.original} />,
      });
    }
    for (const name of JSON.parse(names) as string[]) {
      columns.push({
        id: `metric:${name}`,
        header: name,
        enableSorting: true,
        meta: { align: 'right' },
        cell: ({ row }) => <MetricCell run={row.original} name={name} />,
      });
    }
    return columns;
  }, [t, names, withExperiment]);
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
      className="break"
    >
      {run.pipeline.name}
    </TextLink>
  );
}

export function ExperimentLink({ run }: { run: Run }) {
  const { t } = useTranslation();
  if (!run.experiment?.id) return <>{t('field.none')}</>;
  return (
    <TextLink to="/experiments/$experimentId" params={{ experimentId: run.experiment.id }} className="break">
      {run.experiment.name}
    </TextLink>
  );
}
