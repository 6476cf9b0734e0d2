import { useTranslation } from 'react-i18next';
import { formatMetric } from '../format/format';
import type { Curve } from './curves';
import { LineKey } from './LineKey';
import classes from './Metrics.module.css';

interface LegendProps {
  curves: Curve[];
  /** Where the pointer is; undefined: the last values are shown. */
  place: number | undefined;
  format: string;
}

/** The names of the lines, with their values at the pointer. */
export function Legend({ curves, place, format }: LegendProps) {
  const { t, i18n } = useTranslation();
  return (
    <ul className={classes.legend}>
      {curves.map((curve, i) => {
        const value = valueAt(curve, place);
        return (
          <li key={curve.id}>
            <LineKey index={i} />
            <span className={classes.line} title={curve.label}>
              {curve.label}
            </span>
            <span className={classes.number}>
              {value === null ? t('field.none') : formatMetric(value, format, i18n.language)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** The value at a place, or the last one before it. */
function valueAt({ x, y }: Curve, place: number | undefined): number | null {
  for (let i = x.length - 1; i >= 0; i--) {
    const value = y[i];
    if (value !== null && value !== undefined && (place === undefined || (x[i] as number) <= place)) return value;
  }
  return null;
}
