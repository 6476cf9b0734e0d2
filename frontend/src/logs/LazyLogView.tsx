import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Awaiting } from '../feedback/Awaiting';
import type { LogViewProps } from './LogView';

const LogView = lazy(() => import('./LogView'));

/** The log, whose code is loaded when the first one is shown. */
export function LazyLogView(props: LogViewProps) {
  const { t } = useTranslation();
  return (
    <Suspense fallback={<Awaiting what={t('await.log')} />}>
      <LogView {...props} />
    </Suspense>
  );
}
