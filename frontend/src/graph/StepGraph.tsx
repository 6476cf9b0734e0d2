import '@xyflow/react/dist/style.css';
import { useComputedColorScheme } from '@mantine/core';
import { useReducedMotion } from '@mantine/hooks';
import { IconMaximize } from '@tabler/icons-react';
import {
  Background,
  ControlButton,
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from '@xyflow/react';
import { type FocusEvent, useCallback, useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Duration } from '../format/Duration';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';
import { hasRun, isFinal } from '../status/status';
import { nodeHeight, nodeWidth, place } from './layout';
import type { Step, Steps } from './model';
import classes from './StepGraph.module.css';

type StepNode = Node<{ step: Step; onSelect: (id: string) => void; chosen: boolean }, 'step'>;

interface StepGraphProps {
  graph: Steps;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

const nodeTypes = { step: StepCard };
const zooms = { min: 0.1, readable: 0.65, max: 1.1 };
const margin = 28;

/** The steps and what they wait for. Each step is a button, so the keyboard reaches it. */
export default function StepGraph(props: StepGraphProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ graph, selected, onSelect }: StepGraphProps) {
  const { t } = useTranslation();
  const scheme = useComputedColorScheme();
  const still = useReducedMotion();
  // Status changes come often; places change only with the shape of the graph.
  const shape = JSON.stringify([graph.steps.map((step) => step.id), graph.edges]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the graph
  const places = useMemo(() => new Map(place(graph).map((placed) => [placed.id, placed])), [shape]);

  const nodes = graph.steps.map((step): StepNode => {
    const { x, y } = places.get(step.id) ?? { x: 0, y: 0 };
    return {
      id: step.id,
      type: 'step',
      position: { x, y },
      width: nodeWidth,
      height: nodeHeight,
      data: { step, onSelect, chosen: step.id === selected },
    };
  });
  const running = new Set(graph.steps.filter((step) => step.phase === 'Running').map((step) => step.id));
  const edges = graph.edges.map(
    ({ from, to }): Edge => ({ id: `${from}>${to}`, source: from, target: to, animated: !still && running.has(to) }),
  );

  const showAll = useView(shape, selected);

  return (
    <section className={classes.graph} aria-label={t('graph.label')} aria-description={t('graph.hint')}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
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
      </ReactFlow>
    </section>
  );
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

function StepCard({ id, data: { step, onSelect, chosen } }: NodeProps<StepNode>) {
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

  return (
    <>
      <Handle type="target" position={Position.Top} className={classes.handle} isConnectable={false} />
      <button
        type="button"
        className={`nodrag ${classes.step}`}
        data-phase={phase}
        aria-pressed={chosen}
        onClick={() => onSelect(id)}
        onFocus={bringIntoView}
      >
        {phase !== undefined && <StatusIcon phase={phase} size={22} />}
        <span className={classes.text}>
          <span className={classes.name} title={step.name}>
            {step.name}
          </span>
          <span className={classes.line} title={step.waiting}>
            {phase === undefined ? (
              [step.kind, step.note].filter(Boolean).join(' · ')
            ) : (
              <>
                {word(phase)}
                {(hasRun(phase) || step.waiting) && ' · '}
                {step.waiting}
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
