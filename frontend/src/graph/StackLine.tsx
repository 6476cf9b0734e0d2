import { VisuallyHidden } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';
import type { Stack, Step } from './model';
import classes from './StepGraph.module.css';

/** The name of a step; that of a group has its size behind it. */
export function useStackName({ name, stack }: Step): string {
  const { i18n } = useTranslation();
  return stack ? `${name} · ${new Intl.NumberFormat(i18n.language).format(stack.size)}` : name;
}

/**
 * How many of a group's passes or steps are in each state: icons and numbers to the eye, and words for screen readers.
 * A group that does not run has no states, and says what it is.
 */
export function StackLine({ stack, when }: { stack: Stack; when?: string }) {
  const { t, i18n } = useTranslation();
  const word = useStatusWord();
  const { format } = new Intl.NumberFormat(i18n.language);
  const size = useSize(stack);
  const states = stack.counts.map(([phase, count]) => t('graph.inState', { count, state: word(phase) }));
  const found = stack.found && !stack.open ? t('graph.found', { count: stack.found }) : undefined;
  const condition = when && t('graph.onlyWhen', { when });
  const still = stack.counts.length === 0;
  const said = [size, condition, ...states, found, stack.chosen && t('graph.holdsChosen')]
    .filter(Boolean)
    .join(t('graph.comma'));
  return (
    <span className={classes.line} title={said}>
      <VisuallyHidden>{said}</VisuallyHidden>
      <span aria-hidden className={classes.counts}>
        {still && <StillStack stack={stack} when={when} />}
        {stack.counts.map(([phase, count]) => (
          <span key={phase} className={classes.count}>
            <StatusIcon phase={phase} size={14} />
            {format(count)}
          </span>
        ))}
        {found && (
          <span className={classes.count}>
            <IconSearch size={13} />
            {format(stack.found ?? 0)}
          </span>
        )}
      </span>
    </span>
  );
}

/** What a group is that does not run. A branch has a condition as such. */
function StillStack({ stack: { kind }, when }: { stack: Stack; when?: string }) {
  const { t } = useTranslation();
  const words = { loop: t('graph.loop'), branch: t('graph.branch'), pipeline: t('graph.subPipeline') };
  return <span>{[words[kind], kind === 'loop' && when && t('graph.conditional')].filter(Boolean).join(' · ')}</span>;
}

function useSize({ kind, size, counts }: Stack): string {
  const { t } = useTranslation();
  if (kind === 'loop') return t(counts.length === 0 ? 'graph.loopSteps' : 'graph.loopOf', { count: size });
  return kind === 'branch' ? t('graph.branchOf', { count: size }) : t('graph.pipelineOf', { count: size });
}
