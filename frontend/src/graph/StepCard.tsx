import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { Handle, type Node, type NodeProps, Position, useReactFlow } from '@xyflow/react';
import type { FocusEvent, KeyboardEvent } from 'react';
import { useTranslation } from 'react-i18next';
import { Duration } from '../format/Duration';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';
import { hasRun, isFinal } from '../status/status';
import { useSentence } from '../waiting/useSentence';
import { nodeHeight, nodeWidth } from './layout';
import type { Step } from './model';
import { type Way as Direction, ways as directions } from './neighbour';
import { StackLine, useStackName } from './StackLine';
import classes from './StepGraph.module.css';

export interface StepData extends Record<string, unknown> {
  step: Step;
  onSelect: (id: string) => void;
  onToggle: (id: string) => void;
  onGo: (from: string, way: Direction) => void;
  chosen: boolean;
  faint: boolean;
  /** No edge of React Flow's ends here. */
  loose?: boolean;
}
export type StepNode = Node<StepData, 'step'>;

function isWithin(element: Element, frame: Element | null): boolean {
  if (!frame) return false;
  const [inner, outer] = [element.getBoundingClientRect(), frame.getBoundingClientRect()];
  const across = inner.left >= outer.left && inner.right <= outer.right;
  return across && inner.top >= outer.top && inner.bottom <= outer.bottom;
}

/** A step as a button, so that the keyboard reaches it. The button of a group opens and closes it. */
export function StepCard({ id, data }: NodeProps<StepNode>) {
  const { step, onSelect, onToggle, onGo, chosen, faint, loose } = data;
  const { t } = useTranslation();
  const sentence = useSentence();
  const flow = useReactFlow();
  const word = useStatusWord();
  const { phase, stack } = step;
  const name = useStackName(step);

  // The keyboard may reach a step that is out of view.
  const bringIntoView = (event: FocusEvent) => {
    const button = event.currentTarget;
    if (!button.matches(':focus-visible') || button.closest('[data-held]')) return;
    if (isWithin(button, button.closest('.react-flow'))) return;
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
        data-change={step.change}
        data-faint={faint || undefined}
        data-stack={stack && (stack.open ? 'open' : 'closed')}
        data-chosen={chosen || undefined}
        aria-pressed={stack ? undefined : chosen}
        aria-expanded={stack?.open}
        onClick={() => (stack ? onToggle(id) : onSelect(id))}
        onFocus={bringIntoView}
        onKeyDown={onKeyDown}
      >
        {phase !== undefined && <StatusIcon phase={phase} size={22} />}
        <span className={classes.text}>
          <span className={classes.name} title={name}>
            {name}
          </span>
          {stack ? (
            <StackLine stack={stack} when={step.when} />
          ) : phase === undefined ? (
            <StillLine step={step} />
          ) : (
            <span className={classes.line} title={sentence(step.waiting)}>
              {word(phase)}
              {(hasRun(phase) || step.waiting) && ' · '}
              {sentence(step.waiting)}
              {hasRun(phase) && <Duration start={step.started} end={step.finished} live={!isFinal(phase)} />}
            </span>
          )}
        </span>
        {step.change && <span className={classes.change}>{t(`graph.change.${step.change}`)}</span>}
        {stack && (
          <span className={classes.turn}>
            {stack.open ? <IconChevronUp size={16} aria-hidden /> : <IconChevronDown size={16} aria-hidden />}
          </span>
        )}
      </button>
      {!loose && <Handle type="source" position={Position.Bottom} className={classes.handle} isConnectable={false} />}
    </>
  );
}

/** What a step is that does not run, and whether it runs once, often or not at all. */
function StillLine({ step: { kind, note, loop, when } }: { step: Step }) {
  const { t } = useTranslation();
  const words = [kind, loop && t('graph.eachItem'), when && t('graph.conditional'), note].filter(Boolean).join(' · ');
  return (
    <span className={classes.line} title={when ? `${words}\n${t('graph.onlyWhen', { when })}` : words}>
      {words}
    </span>
  );
}
