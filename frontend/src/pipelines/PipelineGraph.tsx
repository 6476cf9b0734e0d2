import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { GraphNode } from '../api/client';
import { graphQuery } from '../api/pipelines';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { FoldableGraph } from '../graph/FoldableGraph';
import { ownersOf } from '../graph/groups';
import { groupPipeline } from '../graph/pipelineGroups';
import classes from './PipelinePage.module.css';
import type { PipelineSearch } from './pipelineSearch';

const StepPanel = lazy(() => import('./StepPanel'));

interface PipelineGraphProps {
  pipelineID: string;
  versionID: string | undefined;
  search: PipelineSearch;
  onShow: (patch: PipelineSearch) => void;
}

/** What a pipeline will do, with the chosen step beside it. */
export function PipelineGraph({ pipelineID, versionID, search, onShow }: PipelineGraphProps) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(graphQuery(pipelineID, versionID));
  const graph = useMemo(() => groupPipeline(data ?? {}), [data]);
  const choose = useCallback((step: string | undefined) => onShow({ step }), [onShow]);
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
  const nodes = (data.nodes ?? []) as GraphNode[];
  const chosen = nodes.find(({ id }) => id === search.step);
  const owners = chosen ? ownersOf(graph.owners, chosen.id) : [];
  return (
    <div className={classes.graph} data-step={chosen ? true : undefined}>
      <div className={classes.canvas}>
        <FoldableGraph graph={graph} search={search} onShow={onShow} selected={chosen?.id} onSelect={choose} />
      </div>
      {chosen && (
        <Suspense fallback={<Awaiting what={t('await.pipeline')} />}>
          <StepPanel
            pipelineID={pipelineID}
            versionID={versionID}
            step={chosen}
            around={owners.flatMap((owner) => nodes.filter(({ id }) => id === owner))}
            onChoose={choose}
          />
        </Suspense>
      )}
    </div>
  );
}
