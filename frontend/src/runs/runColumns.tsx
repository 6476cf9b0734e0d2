import { Group, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { TextLink } from '../app/links';
import { Ago } from '../format/Ago';
import { Duration } from '../format/Duration';
import { formatMetric } from '../format/format';
import { isFinal } from '../status/status';
import { ChooseAll, ChooseOne } from '../table/Choice';
import type { Column } from '../table/DataTable';
import { RunStatus } from '../waiting/RunStatus';
import { Bar } from './Bars';
import { Labels } from './Labels';
import { isNaNOf, metricsNamed } from './metricColumns';
import { Delta, PinButton } from './Pins';

/** The columns of a list of runs beside those that each has. */
interface Shown {
  metrics: string[];
  params: string[];
  labels: boolean;
  experiment: boolean;
  /** All runs are of one pipeline: its version is shown instead. */
  ofPipeline: boolean;
}

/** The columns of a list of runs. */
export function useRunColumns(shown: Shown): Column<Run>[] {
  const { t } = useTranslation();
  // The names are made anew at each reading; their text tells whether they changed.
  const written = JSON.stringify(shown);
  return useMemo(() => runColumns(t, JSON.parse(written) as Shown), [t, written]);
}

function runColumns(t: TFunction, { metrics, params, labels, experiment, ofPipeline }: Shown): Column<Run>[] {
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
  if (experiment) {
    columns.splice(4, 0, {
      id: 'experiment',
      header: t('field.experiment'),
      cell: (row) => <ExperimentLink run={row} />,
    });
  }
  if (labels) {
    columns.push({ id: 'labels', header: t('field.labels'), cell: (row) => <Labels labels={row.labels} /> });
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
        {isNaNOf(run, name) ? 'NaN' : t('field.none')}
      </Text>
    );
  return (
    <>
      <Group gap={6} justify="flex-end" wrap="nowrap">
        <Delta run={run} name={name} />
        <data value={first.value}>{formatMetric(first.value, first.format, i18n.language)}</data>
        {values.length > 1 && (
          <Text span size="xs" c="dimmed">
            {t('runs.moreValues', { count: values.length - 1 })}
          </Text>
        )}
      </Group>
      <Bar name={name} value={first.value} />
    </>
  );
}

/** Leads to the version that a run was made from; it says the pipeline's name unless it is given a text. */
export function PipelineLink({ run, text }: { run: Run; text?: string }) {
  const { t } = useTranslation();
  if (!run.pipeline?.id)
    return run.pipeline?.name ? run.pipeline.name : <span className="whole">{t('runs.inline')}</span>;
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
