import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Awaiting } from '../feedback/Awaiting';
import type { StepGraphProps } from './StepGraph';

const StepGraph = lazy(() => import('./StepGraph'));

/** The graph, whose code is loaded when the first one is shown. */
export function LazyStepGraph(props: StepGraphProps) {
  const { t } = useTranslation();
  return (
    <Suspense fallback={<Awaiting what={t('await.graph')} />}>
      <StepGraph {...props} />
    </Suspense>
  );
}
