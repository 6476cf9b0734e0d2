import {
  IconAlertOctagonFilled,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleXFilled,
  IconClock,
  IconHelpCircle,
  IconHourglassHigh,
  IconLoader2,
  IconPlayerSkipForwardFilled,
  IconPlayerStopFilled,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import classes from './StatusBadge.module.css';
import { type Status, statusOf } from './status';

const looks: Record<Status, { icon: typeof IconClock; tone: string }> = {
  Pending: { icon: IconClock, tone: 'idle' },
  Waiting: { icon: IconHourglassHigh, tone: 'warn' },
  Running: { icon: IconLoader2, tone: 'run' },
  Succeeded: { icon: IconCircleCheckFilled, tone: 'ok' },
  Failed: { icon: IconCircleXFilled, tone: 'bad' },
  Error: { icon: IconAlertOctagonFilled, tone: 'bad' },
  Terminating: { icon: IconPlayerStopFilled, tone: 'warn' },
  Terminated: { icon: IconPlayerStopFilled, tone: 'idle' },
  Skipped: { icon: IconPlayerSkipForwardFilled, tone: 'idle' },
  Omitted: { icon: IconCircleDashed, tone: 'idle' },
};

const unknown = { icon: IconHelpCircle, tone: 'idle' };

/** A status by icon and word, never by colour alone. */
export function StatusBadge({ phase, plain = false }: { phase: string | undefined; plain?: boolean }) {
  const word = useStatusWord()(phase);
  const { tone } = look(phase);
  return (
    <span className={plain ? classes.plain : classes.badge} data-tone={tone} data-status={phase || 'Pending'}>
      <StatusIcon phase={phase} />
      {word}
    </span>
  );
}

/** The icon alone; the caller shows the word beside it or as a label. */
export function StatusIcon({ phase, size = 16 }: { phase: string | undefined; size?: number }) {
  const { icon: Icon, tone } = look(phase);
  return (
    <Icon size={size} aria-hidden className={phase === 'Running' ? classes.turning : classes.icon} data-tone={tone} />
  );
}

const look = (phase: string | undefined) => {
  const status = statusOf(phase);
  return status ? looks[status] : unknown;
};

/** Says a status in the reader's language; one that we do not know is said as the server says it. */
export function useStatusWord() {
  const { t } = useTranslation();
  return (phase: string | undefined) => {
    const status = statusOf(phase);
    return status ? t(`status.${status}`) : (phase ?? '');
  };
}
