import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { GraphNode } from '../api/client';
import { graphQuery } from '../api/pipelines';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { LazyStepGraph } from '../graph/LazyStepGraph';
import { pipelineSteps } from '../graph/model';
import classes from './PipelinePage.module.css';

const StepPanel = lazy(() => import('./StepPanel'));

interface PipelineGraphProps {
  pipelineID: string;
  versionID: string | undefined;
  step: string | undefined;
  onStep: (id: string | undefined) => void;
}

/** What a pipeline will do, with the chosen step beside it. */
export function PipelineGraph({ pipelineID, versionID, step, onStep }: PipelineGraphProps) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(graphQuery(pipelineID, versionID));
  const graph = useMemo(() => pipelineSteps(data ?? {}), [data]);
  const what = t('await.graph');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Awaiting what={what} />;
  if (graph.steps.length === 0) {
    return (
      <Text c="dimmed" p="lg">
        {t('pipeline.noGraph')}
      </Text>
    );
  }
  const chosen = data.nodes?.find(({ id }) => id === step) as GraphNode | undefined;
  return (
    <div className={classes.graph} data-step={chosen ? true : undefined}>
      <div className={classes.canvas}>
        <LazyStepGraph graph={graph} selected={step} onSelect={onStep} />
      </div>
      {chosen && (
        <Suspense fallback={<Awaiting what={t('await.pipeline')} />}>
          <StepPanel pipelineID={pipelineID} versionID={versionID} step={chosen} onClose={() => onStep(undefined)} />
        </Suspense>
      )}
    </div>
  );
}
