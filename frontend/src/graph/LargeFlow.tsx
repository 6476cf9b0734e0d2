import { useReactFlow, useStore } from '@xyflow/react';
import { type MouseEvent, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Drawing, GraphMap } from './Drawing';
import { isFound } from './find';
import { nodeHeight, nodeWidth, type Placed } from './layout';
import { placeRows, type Row, rowHeight } from './rows';
import { StepCard, type StepNode } from './StepCard';
import { type FlowProps, Frame, hintOf, shapeOf } from './StepGraph';
import classes from './StepGraph.module.css';
import { useArrows, useGraphView, useToggle } from './useGraphView';

const nodeTypes = { step: StepCard };
const noEdges: never[] = [];
// Below this zoom names could not be read; steps are boxes of their color.
const nearFrom = 0.4;
// Steps are made for this much more than the view shows, so that a small move needs none.
const tile = { width: nodeWidth + 24, height: rowHeight };

/** A graph of many steps: those in view are buttons, and edges, far views and the map are painted. */
export function LargeFlow({ graph, selected, onSelect, onToggle, anchor, found }: FlowProps) {
  const { t } = useTranslation();
  const flow = useReactFlow();
  const shape = shapeOf(graph);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the graph
  const { rows, places } = useMemo(() => {
    const placed = placeRows(graph);
    return { rows: placed, places: new Map(placed.flatMap((row) => row.steps.map((step) => [step.id, step]))) };
  }, [shape]);
  const { frame, onGo } = useArrows(graph, places);
  const toggle = useToggle(places, anchor, onToggle);
  const showAll = useGraphView(places, selected, anchor, frame);
  const byID = useMemo(() => new Map(graph.steps.map((step) => [step.id, step])), [graph]);
  const near = useNear();
  // A step that stays in view stays the same node, so that a move renders only those that come.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows have other places
  const nodeOf = useMemo(() => {
    const made = new Map<string, StepNode>();
    return ({ id, x, y }: Placed): StepNode[] => {
      const held = made.get(id);
      const step = byID.get(id);
      if (held) return [held];
      if (!step) return [];
      const faint = !isFound(step, found);
      const data = { step, onSelect, onToggle: toggle, onGo, chosen: id === selected, faint, loose: true };
      const node: StepNode = { id, type: 'step', position: { x, y }, width: nodeWidth, height: nodeHeight, data };
      made.set(id, node);
      return [node];
    };
  }, [rows, byID, selected, found, onSelect, toggle, onGo]);
  const nodes = useMemo(() => stepsWithin(rows, near).flatMap(nodeOf), [rows, near, nodeOf]);

  // From afar a step is no button.
  const onPaneClick = (event: MouseEvent) => {
    if (near) return;
    const { x, y } = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false });
    const hit = rows[Math.floor(y / rowHeight)]?.steps.find((step) => x >= step.x && x <= step.x + nodeWidth);
    if (hit) (byID.get(hit.id)?.stack ? toggle : onSelect)(hit.id);
  };

  const painted = { rows, byID, selected, found };
  return (
    <section ref={frame} className={classes.graph} aria-label={t('graph.label')} aria-description={t(hintOf(graph))}>
      <Frame nodes={nodes} edges={noEdges} nodeTypes={nodeTypes} onPaneClick={onPaneClick} onShowAll={showAll}>
        <Drawing {...painted} boxesBelow={nearFrom} />
        <GraphMap {...painted} places={places} />
      </Frame>
    </section>
  );
}

/** The part of the graph that is in view, in tiles; empty when it is too far away to read. */
function useNear(): string {
  return useStore(({ transform: [x, y, zoom], width, height }) => {
    if (zoom < nearFrom || width === 0) return '';
    const left = Math.floor(-x / zoom / tile.width) - 1;
    const right = Math.floor((width - x) / zoom / tile.width) + 1;
    const top = Math.floor(-y / zoom / tile.height) - 1;
    const bottom = Math.floor((height - y) / zoom / tile.height);
    return [left, right, top, bottom].join(' ');
  });
}

function stepsWithin(rows: Row[], near: string): Placed[] {
  if (!near) return [];
  const [left = 0, right = 0, top = 0, bottom = 0] = near.split(' ').map(Number);
  const first = Math.max(0, Math.floor((top * tile.height) / rowHeight));
  const end = Math.max(0, Math.ceil(((bottom + 1) * tile.height) / rowHeight));
  return rows
    .slice(first, end)
    .flatMap(({ steps }) => steps.filter(({ x }) => x + nodeWidth > left * tile.width && x < (right + 1) * tile.width));
}
