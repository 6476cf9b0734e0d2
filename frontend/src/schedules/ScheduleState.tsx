import { IconAlertTriangleFilled, IconCalendarCheck, IconCircleCheck, IconPlayerPause } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Job } from '../api/schedules';
import classes from '../status/StatusBadge.module.css';

/** Whether a schedule starts runs, by icon and word; an enabled one whose last run could not be started says so. */
export function ScheduleState({ job }: { job: Job }) {
  const { t } = useTranslation();
  const look =
    job.status === 'Succeeded'
      ? { icon: IconCircleCheck, tone: 'idle', word: t('schedules.ended') }
      : !job.enabled
        ? { icon: IconPlayerPause, tone: 'warn', word: t('schedules.paused') }
        : job.error
          ? { icon: IconAlertTriangleFilled, tone: 'bad', word: t('schedules.failing') }
          : { icon: IconCalendarCheck, tone: 'ok', word: t('schedules.enabled') };
  return (
    <span className={classes.badge} data-tone={look.tone}>
      <look.icon size={16} aria-hidden />
      {look.word}
    </span>
  );
}
