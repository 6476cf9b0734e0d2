import { Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Metric, Run, RunNode } from '../api/client';
import { formatMetric } from '../format/format';
import { stepName } from '../graph/model';
import { isFinal } from '../status/status';
import classes from './RunPage.module.css';

/** What the run measured, by step. */
export function MetricsCard({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const metrics = (run.metrics ?? []) as Metric[];
  const steps = new Map(((run.nodes ?? []) as RunNode[]).map((node) => [node.id, stepName(node)]));
  return (
    <section className={`panel ${classes.card}`} aria-labelledby="metrics">
      <Title order={2} size="h5" id="metrics">
        {t('run.metrics')}
      </Title>
      {metrics.length === 0 ? (
        <Text size="sm" c="dimmed">
          {isFinal(run.status) ? t('run.noMetricsFinal') : t('run.noMetrics')}
        </Text>
      ) : (
        <table className={classes.metrics}>
          <thead>
            <tr>
              <th scope="col">{t('field.metric')}</th>
              <th scope="col">{t('field.step')}</th>
              <th scope="col">{t('field.value')}</th>
            </tr>
          </thead>
          <tbody>
            {metrics.map((metric) => (
              <tr key={`${metric.node_id}/${metric.name}`}>
                <td className="break">{metric.name}</td>
                <td className="break">{steps.get(metric.node_id ?? '') ?? metric.node_id}</td>
                <td>
                  <data className={classes.value} value={metric.value} data-metric={metric.name}>
                    {formatMetric(metric.value, metric.format, i18n.language)}
                  </data>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
