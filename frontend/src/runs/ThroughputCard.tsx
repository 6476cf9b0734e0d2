import { Group, Text, Title } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { logURL } from '../api/runs';
import { throughput } from '../chart/throughput';
import { Awaiting } from '../feedback/Awaiting';
import { formatMetric } from '../format/format';
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
  const { t, i18n } = useTranslation();
  const { lines } = useLog(logURL(run.id, node.id, true));
  const curve = useMemo(() => throughput(lines), [lines]);
  const [point, setPoint] = useState<number>();
  // One point is no curve.
  if (curve.step.length < 2) return null;
  const rate = (index: number) => formatMetric(curve.rate[index] ?? 0, 'RAW', i18n.language);
  const last = curve.rate.length - 1;
  return (
    <section className={`panel ${classes.card}`} aria-labelledby="throughput">
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h5" id="throughput">
          {t('run.throughput')}
        </Title>
        <Text size="sm">
          {point === undefined
            ? t('run.latest', { rate: rate(last), step: curve.step[last] })
            : t('run.atStep', { rate: rate(point), step: curve.step[point] })}
        </Text>
      </Group>
      <Text size="xs" c="dimmed">
        {t('run.throughputOf', { step: stepName(node) })}
      </Text>
      <Suspense fallback={<Awaiting what={t('await.chart')} rows={2} />}>
        <CurveChart curve={curve} onPoint={setPoint} />
      </Suspense>
    </section>
  );
}
