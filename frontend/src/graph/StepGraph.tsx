import '@xyflow/react/dist/style.css';
import { useComputedColorScheme } from '@mantine/core';
import { useReducedMotion } from '@mantine/hooks';
import { IconMaximize } from '@tabler/icons-react';
import {
  Background,
  BaseEdge,
  ControlButton,
  Controls,
  type Edge,
  type EdgeProps,
  MiniMap,
  ReactFlow,
  type ReactFlowProps,
  ReactFlowProvider,
} from '@xyflow/react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { LargeFlow } from './LargeFlow';
import { nodeHeight, nodeWidth, type Point, place } from './layout';
import type { Steps } from './model';
import { StepCard, type StepNode } from './StepCard';
import classes from './StepGraph.module.css';
import { tones } from './tones';
import { useArrows, useGraphView, zooms } from './useGraphView';

type WayEdge = Edge<{ points: Point[] }, 'way'>;

export interface StepGraphProps {
  graph: Steps;
  selected: string | undefined;
  onSelect: (id: string) => void;
  /** Part of a name; the other steps are faint. */
  find?: string;
}

const nodeTypes = { step: StepCard };
const edgeTypes = { way: Way };
// A smaller graph can be seen whole.
const mapFrom = 40;
// Beyond this a layout with the fewest crossings takes seconds.
const largeFrom = 200;

/** The steps and what they wait for. Each step is a button, so the keyboard reaches it. */
export default function StepGraph(props: StepGraphProps) {
  const { steps, edges } = props.graph;
  const large = steps.length > largeFrom || edges.length > 2 * largeFrom;
  return <ReactFlowProvider>{large ? <LargeFlow {...props} /> : <Flow {...props} />}</ReactFlowProvider>;
}

function Flow({ graph, selected, onSelect, find = '' }: StepGraphProps) {
  const { t } = useTranslation();
  const still = useReducedMotion();
  // Status changes come often; places change only with the shape of the graph.
  const shape = JSON.stringify([graph.steps.map((step) => step.id), graph.edges]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the graph
  const { places, ways } = useMemo(() => {
    const placed = place(graph);
    return { places: new Map(placed.steps.map((step) => [step.id, step])), ways: placed.ways };
  }, [shape]);
  const words = find.toLowerCase();
  const { frame, onGo } = useArrows(graph, places);

  const nodes = graph.steps.map((step): StepNode => {
    const { x, y } = places.get(step.id) ?? { x: 0, y: 0 };
    return {
      id: step.id,
      type: 'step',
      position: { x, y },
      width: nodeWidth,
      height: nodeHeight,
      data: { step, onSelect, onGo, chosen: step.id === selected, faint: !step.name.toLowerCase().includes(words) },
    };
  });
  const running = new Set(graph.steps.filter((step) => step.phase === 'Running').map((step) => step.id));
  const edges = graph.edges.map(({ from, to }): WayEdge => {
    const id = `${from}>${to}`;
    const animated = !still && running.has(to);
    return { id, type: 'way', source: from, target: to, animated, data: { points: ways.get(id) ?? [] } };
  });

  const showAll = useGraphView(places, selected);

  return (
    <section ref={frame} className={classes.graph} aria-label={t('graph.label')} aria-description={t('graph.hint')}>
      <Frame nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} onShowAll={showAll}>
        {graph.steps.length >= mapFrom && (
          <MiniMap<StepNode>
            pannable
            zoomable
            position="top-right"
            ariaLabel={t('graph.map')}
            nodeColor={({ data }) => `var(${tones[data.step.phase ?? ''] ?? '--ar-line-strong'})`}
            nodeStrokeColor={({ data }) => (data.chosen ? 'var(--mantine-primary-color-filled)' : 'transparent')}
            nodeStrokeWidth={30}
            className={classes.map}
          />
        )}
      </Frame>
    </section>
  );
}

type FrameProps = ReactFlowProps<StepNode, WayEdge> & { onShowAll: () => void };

/** What all graphs have: the ground, the ways to move about, and buttons for them. */
export function Frame({ onShowAll, children, ...rest }: FrameProps) {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme();
  return (
    <ReactFlow
      colorMode={scheme}
      minZoom={zooms.min}
      nodesDraggable={false}
      nodesConnectable={false}
      nodesFocusable={false}
      edgesFocusable={false}
      elementsSelectable={false}
      // The page must scroll when the pointer happens to be over the graph.
      zoomOnScroll={false}
      preventScrolling={false}
      ariaLabelConfig={{
        'controls.ariaLabel': t('graph.label'),
        'controls.zoomIn.ariaLabel': t('graph.zoomIn'),
        'controls.zoomOut.ariaLabel': t('graph.zoomOut'),
      }}
      {...rest}
    >
      <Background gap={22} size={1.2} />
      <Controls showInteractive={false} showFitView={false}>
        <ControlButton onClick={onShowAll} title={t('graph.fit')} aria-label={t('graph.fit')}>
          <IconMaximize aria-hidden style={{ fill: 'none' }} />
        </ControlButton>
      </Controls>
      {children}
    </ReactFlow>
  );
}

/** An edge along its bends, with rounded corners. Its ends are those of the steps. */
function Way({ id, sourceX, sourceY, targetX, targetY, data }: EdgeProps<WayEdge>) {
  const bends = (data?.points ?? []).slice(1, -1);
  return <BaseEdge id={id} path={wayOf([{ x: sourceX, y: sourceY }, ...bends, { x: targetX, y: targetY }])} />;
}

/** A smooth path through points: each bend pulls the line, which passes through the middles between bends. */
function wayOf(points: Point[]): string {
  const [first = { x: 0, y: 0 }, ...rest] = points;
  const last = rest.pop() ?? first;
  if (rest.length === 0) {
    const middle = (first.y + last.y) / 2;
    return `M${first.x},${first.y} C${first.x},${middle} ${last.x},${middle} ${last.x},${last.y}`;
  }
  let path = `M${first.x},${first.y}`;
  rest.forEach((bend, i) => {
    const next = rest[i + 1];
    const to = next ? { x: (bend.x + next.x) / 2, y: (bend.y + next.y) / 2 } : last;
    path += ` Q${bend.x},${bend.y} ${to.x},${to.y}`;
  });
  return path;
}
