import { Button } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Metric, Run, RunNode } from '../api/client';
import { isSpeed } from '../cluster/throughput';
import { formatMetric } from '../format/format';
import { stepLabels } from '../graph/model';
import classes from './RunPage.module.css';

// More than this is a table, which has a tab of its own.
const most = 12;

/** What the run measured, at a glance, speeds first: nothing when it measured nothing. */
export function MetricsCard({ run, onShowAll }: { run: Run; onShowAll: () => void }) {
  const { t, i18n } = useTranslation();
  const labels = useMemo(() => stepLabels((run.nodes ?? []) as RunNode[]), [run.nodes]);
  const named = ((run.metrics ?? []) as Metric[]).map((metric) => ({
    metric,
    step: labels.get(metric.node_id ?? '') ?? metric.node_id ?? '',
  }));
  if (named.length === 0) return null;
  named.sort(
    (a, b) =>
      Number(isSpeed(b.metric.name)) - Number(isSpeed(a.metric.name)) ||
      a.metric.name.localeCompare(b.metric.name) ||
      a.step.localeCompare(b.step),
  );
  return (
    <section className={`panel ${classes.metrics}`} aria-label={t('run.metrics')}>
      <ul>
        {named.slice(0, most).map(({ metric, step }) => (
          <li key={`${metric.node_id}/${metric.name}`}>
            <span className={classes.metricName} title={`${metric.name} · ${step}`}>
              {metric.name} <span className={classes.metricStep}>{step}</span>
            </span>
            <data className={classes.value} value={metric.value} data-metric={metric.name}>
              {formatMetric(metric.value, metric.format, i18n.language)}
            </data>
          </li>
        ))}
      </ul>
      {named.length > most && (
        <Button size="compact-xs" variant="subtle" onClick={onShowAll}>
          {t('run.allMetrics', { count: named.length })}
        </Button>
      )}
    </section>
  );
}
