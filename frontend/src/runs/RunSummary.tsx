import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { seriesListQuery, seriesQuery } from '../api/series';
import { meanSpeed, stepSpeed } from '../cluster/throughput';
import { Duration, Time } from '../format/Duration';
import { formatMetric } from '../format/format';
import { isFinal } from '../status/status';
import { RunLabels } from './RunLabels';
import classes from './RunPage.module.css';
import { ExperimentLink, PipelineLink } from './runColumns';

/** What a reader wants to know of a run at a glance. */
export function RunSummary({ run }: { run: Run }) {
  const { t } = useTranslation();
  return (
    <div>
      {run.description && (
        <Text size="sm" c="dimmed" mb="sm" className="break">
          {run.description}
        </Text>
      )}
      <dl className={classes.summary}>
        <Item label={t('field.duration')}>
          {run.started_at ? (
            <Duration start={run.started_at} end={run.finished_at} live={!isFinal(run.status)} />
          ) : (
            t('run.notStarted')
          )}
        </Item>
        <Item label={t('field.experiment')}>
          <ExperimentLink run={run} />
        </Item>
        <Item label={t('field.pipeline')}>
          <PipelineLink run={run} />
        </Item>
        <Item label={t('field.started')}>
          <Time at={run.started_at ?? run.created_at} />
        </Item>
        {run.finished_at && (
          <Item label={t('field.finished')}>
            <Time at={run.finished_at} />
          </Item>
        )}
        {!isFinal(run.status) && <LiveSpeed run={run} />}
        <Item label={t('field.labels')}>
          <RunLabels run={run} />
        </Item>
        {run.workflow?.name && (
          <Item label={t('field.workflow')}>
            <span className="mono break">
              {run.workflow.namespace}/{run.workflow.name}
            </span>
          </Item>
        )}
      </dl>
    </div>
  );
}

// Enough points for the median of the last ones.
const points = 60;

/** How fast the run is now, by the metric that tells it; nothing while no running step prints one. */
function LiveSpeed({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const running = ((run.nodes ?? []) as RunNode[]).filter(({ phase, type }) => type === 'Pod' && phase === 'Running');
  const { data: list = [] } = useQuery({ ...seriesListQuery(run), enabled: running.length > 0 });
  const step = stepSpeed(
    list,
    running.map(({ id }) => id),
  );
  const { data: series = [] } = useQuery({ ...seriesQuery(run, step?.name ?? '', points), enabled: Boolean(step) });
  const speed = step && meanSpeed(series, step.nodeID);
  if (!speed) return null;
  return (
    <Item label={t('run.speedNow', { metric: step.name })}>
      {formatMetric(speed.value, series[0]?.format, i18n.language)}
      {speed.ranks > 1 && <span className={classes.metricStep}> {t('run.speedRanks', { count: speed.ranks })}</span>}
    </Item>
  );
}

function Item({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
