import { useTranslation } from 'react-i18next';
import { type Axis, metricOf } from './axis';

/** Names an axis: a metric by its own name. */
export function useAxisTitle() {
  const { t } = useTranslation();
  return (axis: Axis) => metricOf(axis) ?? t(`metrics.axis.${axis as 'step'}`);
}
