import { useTranslation } from 'react-i18next';
import { elapsed, formatDuration, formatExact, formatTime } from './format';
import { useNow } from './useNow';

interface DurationProps {
  start: string | undefined;
  end: string | undefined;
  /** Whether it still goes on: then it ticks. */
  live: boolean;
}

/** How long something took, or has taken so far. */
export function Duration({ start, end, live }: DurationProps) {
  const { t, i18n } = useTranslation();
  const now = useNow(live && Boolean(start) && !end);
  // Something that ended without saying when has no duration to show.
  const ms = !live && !end ? undefined : elapsed(start, end, now);
  // Its parts belong on one line.
  return (
    <span style={{ whiteSpace: 'nowrap' }}>
      {ms === undefined ? t('field.none') : formatDuration(ms, i18n.language)}
    </span>
  );
}

/** An instant in the reader's time zone; hovering names the zone. */
export function Time({ at }: { at: string | undefined }) {
  const { t, i18n } = useTranslation();
  const text = formatTime(at, i18n.language);
  if (!text) return t('field.none');
  return (
    <time dateTime={at} title={formatExact(at, i18n.language)}>
      {text}
    </time>
  );
}
