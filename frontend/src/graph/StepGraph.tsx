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
  Handle,
  MiniMap,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import { type FocusEvent, type KeyboardEvent, useCallback, useEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Duration } from '../format/Duration';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';
import { hasRun, isFinal } from '../status/status';
import { useSentence } from '../waiting/useSentence';
import { nodeHeight, nodeWidth, type Placed, type Point, place } from './layout';
import type { Step, Steps } from './model';
import { type Way as Direction, ways as directions, neighbour } from './neighbour';
import classes from './StepGraph.module.css';

interface StepData extends Record<string, unknown> {
  step: Step;
  onSelect: (id: string) => void;
  onGo: (from: string, way: Direction) => void;
  chosen: boolean;
  faint: boolean;
}
type StepNode = Node<StepData, 'step'>;
type WayEdge = Edge<{ points: Point[] }, 'way'>;

interface StepGraphProps {
  graph: Steps;
  selected: string | undefined;
  onSelect: (id: string) => void;
  /** Part of a name; the other steps are faint. */
  find?: string;
}

const nodeTypes = { step: StepCard };
const edgeTypes = { way: Way };
const zooms = { min: 0.1, readable: 0.65, max: 1.1 };
const margin = 28;
// A smaller graph can be seen whole.
const mapFrom = 40;

/** The steps and what they wait for. Each step is a button, so the keyboard reaches it. */
export default function StepGraph(props: StepGraphProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ graph, selected, onSelect, find = '' }: StepGraphProps) {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme();
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

  const showAll = useView(shape, selected);

  return (
    <section ref={frame} className={classes.graph} aria-label={t('graph.label')} aria-description={t('graph.hint')}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
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
        onlyRenderVisibleElements={graph.steps.length > 300}
        ariaLabelConfig={{
          'controls.ariaLabel': t('graph.label'),
          'controls.zoomIn.ariaLabel': t('graph.zoomIn'),
          'controls.zoomOut.ariaLabel': t('graph.zoomOut'),
        }}
      >
        <Background gap={22} size={1.2} />
        <Controls showInteractive={false} showFitView={false}>
          <ControlButton onClick={showAll} title={t('graph.fit')} aria-label={t('graph.fit')}>
            <IconMaximize aria-hidden style={{ fill: 'none' }} />
          </ControlButton>
        </Controls>
        {graph.steps.length >= mapFrom && (
          <MiniMap<StepNode>
            pannable
            zoomable
            position="top-right"
            ariaLabel={t('graph.map')}
            nodeColor={({ data }) => tones[data.step.phase ?? ''] ?? 'var(--ar-line-strong)'}
            nodeStrokeColor={({ data }) => (data.chosen ? 'var(--mantine-primary-color-filled)' : 'transparent')}
            nodeStrokeWidth={30}
            className={classes.map}
          />
        )}
      </ReactFlow>
    </section>
  );
}

const tones: Record<string, string> = {
  Running: 'var(--ar-run)',
  Succeeded: 'var(--ar-ok)',
  Failed: 'var(--ar-bad)',
  Error: 'var(--ar-bad)',
};

// A step that is out of view is drawn some frames after the view has moved to it.
const patience = 30;

/** Arrow keys lead the focus along the edges, and to the sides. */
function useArrows(graph: Steps, places: Map<string, Placed>) {
  const flow = useReactFlow();
  const frame = useRef<HTMLElement>(null);
  const current = useRef({ graph, places });
  current.current = { graph, places };

  const onGo = useCallback(
    (from: string, way: Direction) => {
      const to = neighbour(current.current.graph, current.current.places, from, way);
      const place = to === undefined ? undefined : current.current.places.get(to);
      if (to === undefined || !place) return;
      const focus = (frames: number) => {
        const button = frame.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(to)}"] button`);
        if (button) button.focus();
        else if (frames > 0) requestAnimationFrame(() => focus(frames - 1));
      };
      void flow.setCenter(place.x + nodeWidth / 2, place.y + nodeHeight / 2, { zoom: flow.getZoom() });
      focus(patience);
    },
    [flow],
  );
  return { frame, onGo };
}

/**
 * Places the view when the graph grows or its frame changes: all of it from its top, or, where that could not be read
 * any more, the part around the chosen step. Gives the way to see all of it in any case.
 */
function useView(shape: string, selected: string | undefined) {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);

  const view = useCallback(
    (smallest: number) => {
      const bounds = flow.getNodesBounds(flow.getNodes());
      if (width === 0 || bounds.width === 0) return;
      const fitting = Math.min((width - 2 * margin) / bounds.width, (height - 2 * margin) / bounds.height);
      const zoom = Math.max(smallest, Math.min(zooms.max, fitting));
      const chosen = selected && zoom > fitting ? flow.getNode(selected)?.position : undefined;
      const middle = bounds.x + bounds.width / 2;
      // Not farther to a side than there is something to see.
      const room = Math.max(0, bounds.width / 2 + (margin - width / 2) / zoom);
      const wish = chosen ? chosen.x + nodeWidth / 2 : middle;
      const x = Math.max(middle - room, Math.min(middle + room, wish));
      const below = chosen ? (chosen.y + nodeHeight / 2) * zoom - height / 2 : Number.NEGATIVE_INFINITY;
      const top = Math.max(bounds.y * zoom - margin, below);
      void flow.setViewport({ x: width / 2 - x * zoom, y: -top, zoom });
    },
    [flow, width, height, selected],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: choosing another step must not move the view
  useEffect(() => view(zooms.readable), [flow, width, height, shape]);
  return () => view(zooms.min);
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

function StepCard({ id, data: { step, onSelect, onGo, chosen, faint } }: NodeProps<StepNode>) {
  const sentence = useSentence();
  const flow = useReactFlow();
  const word = useStatusWord();
  const { phase } = step;

  // The keyboard may reach a step that is out of view.
  const bringIntoView = (event: FocusEvent) => {
    if (!event.currentTarget.matches(':focus-visible')) return;
    const node = flow.getNode(id);
    if (node)
      void flow.setCenter(node.position.x + nodeWidth / 2, node.position.y + nodeHeight / 2, { zoom: flow.getZoom() });
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const way = directions.find((key) => key === event.key);
    if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onGo(id, way);
  };

  return (
    <>
      <Handle type="target" position={Position.Top} className={classes.handle} isConnectable={false} />
      <button
        type="button"
        className={`nodrag ${classes.step}`}
        data-phase={phase}
        data-faint={faint || undefined}
        aria-pressed={chosen}
        onClick={() => onSelect(id)}
        onFocus={bringIntoView}
        onKeyDown={onKeyDown}
      >
        {phase !== undefined && <StatusIcon phase={phase} size={22} />}
        <span className={classes.text}>
          <span className={classes.name} title={step.name}>
            {step.name}
          </span>
          <span className={classes.line} title={sentence(step.waiting)}>
            {phase === undefined ? (
              [step.kind, step.note].filter(Boolean).join(' · ')
            ) : (
              <>
                {word(phase)}
                {(hasRun(phase) || step.waiting) && ' · '}
                {sentence(step.waiting)}
                {hasRun(phase) && <Duration start={step.started} end={step.finished} live={!isFinal(phase)} />}
              </>
            )}
          </span>
        </span>
      </button>
      <Handle type="source" position={Position.Bottom} className={classes.handle} isConnectable={false} />
    </>
  );
}
