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
import { type RefObject, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type Found, isFound } from './find';
import { type BoxNode, GroupBox } from './GroupBox';
import { LargeFlow } from './LargeFlow';
import { nodeHeight, nodeWidth, type Point, place } from './layout';
import type { Steps } from './model';
import { StepCard, type StepNode } from './StepCard';
import classes from './StepGraph.module.css';
import { tones } from './tones';
import { type Anchor, useArrows, useGraphView, useToggle, zooms } from './useGraphView';

type WayEdge = Edge<{ points: Point[] }, 'way'>;
type GraphNode = StepNode | BoxNode;

export interface StepGraphProps {
  graph: Steps;
  selected: string | undefined;
  onSelect: (id: string) => void;
  /** The other steps are faint. */
  found?: Found;
  /** Opens a closed group, or closes an open one. */
  onToggle?: (id: string) => void;
}

export interface FlowProps extends StepGraphProps {
  /** What stays in its place when the graph changes next; it lives longer than the way the graph is drawn. */
  anchor: RefObject<Anchor | undefined>;
}

const nodeTypes = { step: StepCard, box: GroupBox };
const edgeTypes = { way: Way };
// A smaller graph can be seen whole.
const mapFrom = 40;
// Beyond this a layout with the fewest crossings takes seconds.
const largeFrom = 200;

/** The steps and what they wait for. Each step is a button, so the keyboard reaches it. */
export default function StepGraph(props: StepGraphProps) {
  const { steps, edges } = props.graph;
  const large = steps.length > largeFrom || edges.length > 2 * largeFrom;
  const anchor = useRef<Anchor>(undefined);
  const flow = { ...props, anchor };
  return <ReactFlowProvider>{large ? <LargeFlow {...flow} /> : <Flow {...flow} />}</ReactFlowProvider>;
}

function Flow({ graph, selected, onSelect, onToggle, anchor, found }: FlowProps) {
  const { t } = useTranslation();
  const still = useReducedMotion();
  // Status changes come often; places change only with the shape of the graph.
  const shape = shapeOf(graph);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the graph
  const { places, boxes, ways } = useMemo(() => {
    const { steps, ...rest } = place(graph);
    return { places: new Map(steps.map((step) => [step.id, step])), ...rest };
  }, [shape]);
  const { frame, onGo } = useArrows(graph, places);
  const toggle = useToggle(places, anchor, onToggle);

  const frames = boxes.map(({ id, x, y, width, height }): BoxNode => {
    return { id: boxID(id), type: 'box', position: { x, y }, width, height, zIndex: -1, data: {} };
  });
  const cards = graph.steps.map((step): StepNode => {
    const { x, y } = places.get(step.id) ?? { x: 0, y: 0 };
    const chosen = step.id === selected;
    return {
      id: step.id,
      type: 'step',
      position: { x, y },
      width: nodeWidth,
      height: nodeHeight,
      data: { step, onSelect, onToggle: toggle, onGo, chosen, faint: !isFound(step, found) },
    };
  });
  const running = new Set(graph.steps.filter((step) => step.phase === 'Running').map((step) => step.id));
  const edges = ways.map(({ from, to, fromBox, points }): WayEdge => {
    const source = fromBox ? boxID(from) : from;
    const animated = !still && running.has(to);
    return { id: `${from}>${to}`, type: 'way', source, target: to, animated, data: { points } };
  });

  const showAll = useGraphView(places, selected, anchor, frame);

  return (
    <section ref={frame} className={classes.graph} aria-label={t('graph.label')} aria-description={t(hintOf(graph))}>
      <Frame
        nodes={[...frames, ...cards]}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onShowAll={showAll}
      >
        {graph.steps.length >= mapFrom && (
          <MiniMap<GraphNode>
            pannable
            zoomable
            position="top-right"
            ariaLabel={t('graph.map')}
            nodeColor={({ data }) =>
              data.step ? `var(${tones[data.step.phase ?? ''] ?? '--ar-line-strong'})` : 'transparent'
            }
            nodeStrokeColor={({ data }) => (data.chosen ? 'var(--mantine-primary-color-filled)' : 'transparent')}
            nodeStrokeWidth={30}
            className={classes.map}
          />
        )}
      </Frame>
    </section>
  );
}

/** How to move about. A graph that does not run has no table of its steps. */
export const hintOf = ({ steps }: Steps) =>
  steps.some(({ phase }) => phase !== undefined) ? 'graph.hint' : 'graph.hintStill';

const boxID = (id: string) => `box ${id}`;

/** What the places of a graph depend on; status changes come oftener. */
export const shapeOf = ({ steps, edges }: Steps) =>
  JSON.stringify([steps.map(({ id, group, stack }) => [id, group, stack?.open]), edges]);

type FrameProps = ReactFlowProps<GraphNode, WayEdge> & { onShowAll: () => void };

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
      <Background gap={24} size={1.2} />
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
