import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Awaiting } from '../feedback/Awaiting';
import type { LogViewProps } from './LogView';

const load = () => import('./LogView');

/** Loads the code before the first log is shown. */
export const preloadLogView = () => void load();

const LogView = lazy(load);

/** The log, whose code is loaded when the first one is shown. */
export function LazyLogView(props: LogViewProps) {
  const { t } = useTranslation();
  return (
    <Suspense fallback={<Awaiting what={t('await.log')} />}>
      <LogView {...props} />
    </Suspense>
  );
}
