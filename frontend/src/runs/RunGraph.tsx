import { Button, Group, Text } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { findSteps } from '../graph/find';
import { fold, isOpen, turned } from '../graph/fold';
import { groupSteps } from '../graph/groups';
import { LazyStepGraph } from '../graph/LazyStepGraph';
import { hideSucceeded } from '../graph/model';
import { isFinal } from '../status/status';
import { GraphFilter } from './GraphFilter';
import type { RunSearch, ShowPatch } from './runSearch';
import { StepsTable } from './StepsTable';

// Beyond this a drawing says less than a table, and costs more: the table is offered first.
const mostSteps = 2000;

interface RunGraphProps {
  run: Run;
  search: RunSearch;
  onShow: ShowPatch;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

/** The live graph of a run. */
export function RunGraph({ run, search, selected, onSelect, onShow }: RunGraphProps) {
  const { t } = useTranslation();
  const { opened, closed, q } = search;
  const graph = useMemo(() => groupSteps((run.nodes ?? []) as RunNode[]), [run.nodes]);
  const found = useMemo(() => findSteps(graph, q), [graph, q]);
  const folded = useMemo(
    () => fold(graph, { opened, closed }, found, selected),
    [graph, opened, closed, found, selected],
  );
  const turn = useCallback(
    (ids: string[], open: boolean) => onShow(turned(graph.groups, { opened, closed }, ids, open)),
    [onShow, graph, opened, closed],
  );
  if (graph.steps.length === 0) {
    return (
      <Text c="dimmed" p="lg" role="status">
        {isFinal(run.status) ? t('run.noStepsFinal') : t('run.noSteps')}
      </Text>
    );
  }
  if (folded.steps.length > mostSteps && !search.draw) {
    return (
      <>
        <Group p="md" gap="sm">
          <Text c="dimmed">{t('run.manySteps', { count: graph.steps.length })}</Text>
          <Button size="xs" variant="default" onClick={() => onShow({ draw: true })}>
            {t('run.drawGraph')}
          </Button>
        </Group>
        <StepsTable run={run} search={search} selected={selected} onSelect={onSelect} onShow={onShow} />
      </>
    );
  }
  const toggle = (id: string) => {
    const group = graph.groups.get(id);
    if (group) turn([id], !isOpen(group, search));
  };
  const shown = search.hide ? hideSucceeded(folded) : folded;
  return (
    <>
      {(graph.steps.length > 3 || graph.groups.size > 0) && (
        <GraphFilter
          graph={graph}
          folded={folded}
          none={found?.size === 0}
          search={search}
          onShow={onShow}
          onTurn={turn}
        />
      )}
      {shown.steps.length === 0 ? (
        <Text c="dimmed" p="lg" role="status">
          {t('graph.allHidden')}
        </Text>
      ) : (
        <LazyStepGraph
          graph={shown}
          selected={selected && folded.shownAs(selected)}
          onSelect={onSelect}
          onToggle={toggle}
          found={found}
        />
      )}
    </>
  );
}
