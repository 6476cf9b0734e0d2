import '@xyflow/react/dist/style.css';
import { useComputedColorScheme } from '@mantine/core';
import { useReducedMotion } from '@mantine/hooks';
import {
  Background,
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from '@xyflow/react';
import { type FocusEvent, useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Duration } from '../format/Duration';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';
import { isFinal } from '../status/status';
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
const fit = { padding: 0.12, maxZoom: 1.15 };

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
  const flow = useReactFlow();
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

  // A graph that grows should stay in view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape is what triggers it
  useEffect(() => {
    const frame = requestAnimationFrame(() => void flow.fitView(fit));
    return () => cancelAnimationFrame(frame);
  }, [shape, flow]);

  return (
    <section className={classes.graph} aria-label={t('graph.label')}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        colorMode={scheme}
        fitView
        fitViewOptions={fit}
        minZoom={0.1}
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
          'controls.fitView.ariaLabel': t('graph.fit'),
        }}
      >
        <Background gap={22} size={1.2} />
        <Controls showInteractive={false} fitViewOptions={fit} />
      </ReactFlow>
    </section>
  );
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
          <span className={classes.line}>
            {phase === undefined ? (
              [step.kind, step.note].filter(Boolean).join(' · ')
            ) : (
              <>
                {word(phase)} · <Duration start={step.started} end={step.finished} live={!isFinal(phase)} />
              </>
            )}
          </span>
        </span>
      </button>
      <Handle type="source" position={Position.Bottom} className={classes.handle} isConnectable={false} />
    </>
  );
}
