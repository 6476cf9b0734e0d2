import { Text, Title } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { logURL } from '../api/runs';
import { throughput } from '../chart/throughput';
import { Awaiting } from '../feedback/Awaiting';
import { stepName } from '../graph/model';
import { useLog } from '../logs/useLog';
import classes from './RunPage.module.css';

const CurveChart = lazy(() => import('../chart/CurveChart'));

/** The throughput of a step as it trains, read from its log; nothing when its log has none. */
export function ThroughputCard({ run, node }: { run: Run; node: RunNode | undefined }) {
  if (!node || (!node.has_log && node.phase !== 'Running')) return null;
  return <NodeThroughput key={node.id} run={run} node={node} />;
}

function NodeThroughput({ run, node }: { run: Run; node: RunNode }) {
  const { t } = useTranslation();
  const { lines } = useLog(logURL(run.id, node.id, true));
  const curve = useMemo(() => throughput(lines), [lines]);
  // One point is no curve.
  if (curve.step.length < 2) return null;
  return (
    <section className={`panel ${classes.card}`} aria-labelledby="throughput">
      <Title order={2} size="h5" id="throughput">
        {t('run.throughput')}
      </Title>
      <Text size="xs" c="dimmed">
        {t('run.throughputOf', { step: stepName(node) })}
      </Text>
      <Suspense fallback={<Awaiting what={t('await.chart')} rows={2} />}>
        <CurveChart curve={curve} />
      </Suspense>
    </section>
  );
}
