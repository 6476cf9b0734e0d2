import {
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleXFilled,
  IconClock,
  IconHelpCircle,
  IconLoader2,
  IconPlayerPauseFilled,
  IconPlayerStopFilled,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import badge from '../status/StatusBadge.module.css';

const looks = {
  Created: { icon: IconClock, tone: 'idle' },
  Pending: { icon: IconClock, tone: 'idle' },
  Inqueue: { icon: IconClock, tone: 'idle' },
  Suspended: { icon: IconPlayerPauseFilled, tone: 'warn' },
  Running: { icon: IconLoader2, tone: 'run' },
  Succeeded: { icon: IconCircleCheckFilled, tone: 'ok' },
  Completed: { icon: IconCircleCheckFilled, tone: 'ok' },
  Failed: { icon: IconCircleXFilled, tone: 'bad' },
  Terminating: { icon: IconPlayerStopFilled, tone: 'warn' },
  Gone: { icon: IconCircleDashed, tone: 'idle' },
  Unknown: { icon: IconHelpCircle, tone: 'warn' },
} as const;

/** The state of a job, a pod or a gang, by icon and word. One that we do not know is said as the cluster says it. */
export function StateBadge({ state = 'Unknown' }: { state: string | undefined }) {
  const { t } = useTranslation();
  const known = state in looks ? (state as keyof typeof looks) : undefined;
  const { icon: Icon, tone } = looks[known ?? 'Unknown'];
  return (
    <span
      className={badge.plain}
      data-tone={tone}
      data-status={state}
      title={known === 'Gone' ? t('job.goneHint') : undefined}
    >
      <Icon size={15} aria-hidden className={known === 'Running' ? badge.turning : badge.icon} />
      {known ? t(`job.state.${known}`) : state}
    </span>
  );
}
