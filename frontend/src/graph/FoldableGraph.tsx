import { Text } from '@mantine/core';
import { type ReactNode, useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { findSteps } from './find';
import { fold, isOpen, turned } from './fold';
import { GraphFilter } from './GraphFilter';
import type { GraphPatch, GraphSearch } from './graphSearch';
import type { Grouped } from './groups';
import { LazyStepGraph } from './LazyStepGraph';
import { hideSucceeded } from './model';

// Beyond this a drawing says less than a table, and costs more.
const mostSteps = 2000;

interface FoldableGraphProps {
  graph: Grouped;
  search: GraphSearch;
  onShow: GraphPatch;
  selected: string | undefined;
  onSelect: (id: string) => void;
  /** Stands in place of a graph with too many steps to draw. */
  instead?: ReactNode;
}

/** A graph whose groups open and close, with a search above it. The URL keeps both. */
export function FoldableGraph({ graph, search, onShow, selected, onSelect, instead }: FoldableGraphProps) {
  const { t } = useTranslation();
  const { opened, closed, q } = search;
  const found = useMemo(() => findSteps(graph, q), [graph, q]);
  const folded = useMemo(
    () => fold(graph, { opened, closed }, found, selected),
    [graph, opened, closed, found, selected],
  );
  const turn = useCallback(
    (ids: string[], open: boolean) => onShow(turned(graph.groups, { opened, closed }, ids, open)),
    [onShow, graph, opened, closed],
  );
  if (instead && folded.steps.length > mostSteps) return instead;
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
