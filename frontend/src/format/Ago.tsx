import { useTranslation } from 'react-i18next';
import { formatExact, formatRelative } from './format';
import { useMinute } from './useNow';

/** How long ago an instant is, or how soon it comes; hovering tells the instant itself with its time zone. */
export function Ago({ at }: { at: string | number | undefined }) {
  const { t, i18n } = useTranslation();
  const now = useMinute();
  const iso = typeof at === 'number' ? new Date(at).toISOString() : at;
  const exact = formatExact(iso, i18n.language);
  if (!exact || !iso) return t('field.none');
  return (
    <time dateTime={iso} title={exact}>
      {formatRelative(Date.parse(iso) - now, i18n.language)}
    </time>
  );
}
