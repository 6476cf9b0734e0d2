import { Handle, type Node, type NodeProps, Position, useReactFlow } from '@xyflow/react';
import type { FocusEvent, KeyboardEvent } from 'react';
import { Duration } from '../format/Duration';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';
import { hasRun, isFinal } from '../status/status';
import { useSentence } from '../waiting/useSentence';
import { nodeHeight, nodeWidth } from './layout';
import type { Step } from './model';
import { type Way as Direction, ways as directions } from './neighbour';
import classes from './StepGraph.module.css';

export interface StepData extends Record<string, unknown> {
  step: Step;
  onSelect: (id: string) => void;
  onGo: (from: string, way: Direction) => void;
  chosen: boolean;
  faint: boolean;
  /** No edge of React Flow's ends here. */
  loose?: boolean;
}
export type StepNode = Node<StepData, 'step'>;

/** A step as a button, so that the keyboard reaches it. */
export function StepCard({ id, data: { step, onSelect, onGo, chosen, faint, loose } }: NodeProps<StepNode>) {
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
      {!loose && <Handle type="target" position={Position.Top} className={classes.handle} isConnectable={false} />}
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
      {!loose && <Handle type="source" position={Position.Bottom} className={classes.handle} isConnectable={false} />}
    </>
  );
}
