import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { LogSource } from '../api/logs';
import { Awaiting } from '../feedback/Awaiting';

const LogView = lazy(() => import('./LogView'));

/** The log, whose code is loaded when the first one is shown. */
export function LazyLogView(props: {
  step: string;
  urls: string[];
  names?: string[];
  source?: LogSource;
  download?: string;
}) {
  const { t } = useTranslation();
  return (
    <Suspense fallback={<Awaiting what={t('await.log')} />}>
      <LogView {...props} />
    </Suspense>
  );
}
