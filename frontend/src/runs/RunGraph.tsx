import { Button, Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { FoldableGraph } from '../graph/FoldableGraph';
import { groupSteps } from '../graph/groups';
import { isFinal } from '../status/status';
import type { RunSearch, ShowPatch } from './runSearch';
import { StepsTable } from './StepsTable';

interface RunGraphProps {
  run: Run;
  search: RunSearch;
  onShow: ShowPatch;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

/** The live graph of a run. A table is offered first where it would be too large. */
export function RunGraph({ run, ...rest }: RunGraphProps) {
  const { t } = useTranslation();
  const graph = useMemo(() => groupSteps((run.nodes ?? []) as RunNode[]), [run.nodes]);
  if (graph.steps.length === 0) {
    return (
      <Text c="dimmed" p="lg" role="status">
        {isFinal(run.status) ? t('run.noStepsFinal') : t('run.noSteps')}
      </Text>
    );
  }
  const table = (
    <>
      <Group p="md" gap="sm">
        <Text c="dimmed">{t('run.manySteps', { count: graph.steps.length })}</Text>
        <Button size="xs" variant="default" onClick={() => rest.onShow({ draw: true })}>
          {t('run.drawGraph')}
        </Button>
      </Group>
      <StepsTable run={run} {...rest} />
    </>
  );
  return <FoldableGraph graph={graph} {...rest} instead={rest.search.draw ? undefined : table} />;
}
