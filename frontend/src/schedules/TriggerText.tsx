import { useTranslation } from 'react-i18next';
import type { Trigger } from '../api/schedules';
import { Time } from '../format/Duration';
import { numberFormat } from '../format/format';
import { zoneOffset } from '../format/wallClock';
import classes from './Schedules.module.css';
import { periodOf } from './trigger';

/** When runs start, in words; a cron expression as it was written. */
export function TriggerText({ trigger }: { trigger: Trigger }) {
  const { t, i18n } = useTranslation();
  if (trigger.cron) {
    return (
      <span className={classes.trigger}>
        <span className="mono">{trigger.cron}</span> UTC
      </span>
    );
  }
  if (!trigger.seconds) return t('schedules.once');
  const { count, unit } = periodOf(trigger.seconds);
  const period = numberFormat(i18n.language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
  return <span className={classes.trigger}>{t('schedules.every', { period })}</span>;
}

/** Times written out, in the reader's zone and in UTC, in which cron expressions are. */
export function Times({ times }: { times: number[] }) {
  const { t, i18n } = useTranslation();
  if (times.length === 0) return t('schedules.never');
  const utc = new Intl.DateTimeFormat(i18n.language, { timeStyle: 'medium', timeZone: 'UTC' });
  return (
    <ol className={classes.times}>
      {times.map((at) => {
        const iso = new Date(at).toISOString();
        return (
          <li key={at}>
            <Time at={iso} />
            {zoneOffset(at) !== 0 && ` (${utc.format(at)} UTC)`}
          </li>
        );
      })}
    </ol>
  );
}
