import { Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { LazyStepGraph } from '../graph/LazyStepGraph';
import { runSteps } from '../graph/model';
import { isFinal } from '../status/status';
import { StepsTable } from './StepsTable';

// Beyond this a drawing says less than a table, and costs more.
const mostSteps = 1500;

interface RunGraphProps {
  run: Run;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

/** The live graph of a run. */
export function RunGraph({ run, selected, onSelect }: RunGraphProps) {
  const { t } = useTranslation();
  const graph = useMemo(() => runSteps((run.nodes ?? []) as RunNode[]), [run.nodes]);
  if (graph.steps.length === 0) {
    return (
      <Text c="dimmed" p="lg" role="status">
        {isFinal(run.status) ? t('run.noStepsFinal') : t('run.noSteps')}
      </Text>
    );
  }
  if (graph.steps.length > mostSteps) {
    return (
      <>
        <Text c="dimmed" p="md">
          {t('run.manySteps', { count: graph.steps.length })}
        </Text>
        <StepsTable run={run} selected={selected} onSelect={onSelect} />
      </>
    );
  }
  return <LazyStepGraph graph={graph} selected={selected} onSelect={onSelect} />;
}
