import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Awaiting } from '../feedback/Awaiting';

const YAMLView = lazy(() => import('./YAMLView'));

/** A manifest, whose viewer is loaded when the first one is shown. */
export function LazyYAMLView(props: { text: string; file: string }) {
  const { t } = useTranslation();
  return (
    <Suspense fallback={<Awaiting what={t('await.yaml')} />}>
      <YAMLView {...props} />
    </Suspense>
  );
}
