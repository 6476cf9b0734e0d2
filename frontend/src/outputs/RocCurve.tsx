import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { CsvTable } from './CsvTable';
import { csvRows } from './csv';
import classes from './Outputs.module.css';

const size = 260;
const mostPoints = 10_000;

/** A receiver operating characteristic: rows of false positive rate, true positive rate and threshold. */
export function RocCurve({ text, columns }: { text: string; columns: string[] }) {
  const { t } = useTranslation();
  const points = useMemo(
    () =>
      csvRows(text, mostPoints)
        .map(([x, y]) => [Number(x), Number(y)] as const)
        .filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)),
    [text],
  );
  const line = points.map(([x, y]) => `${x * size},${(1 - y) * size}`).join(' ');
  const header = columns.length > 0 ? columns : ['fpr', 'tpr', 'threshold'];
  return (
    <>
      <svg
        className={classes.roc}
        viewBox={`-30 -8 ${size + 38} ${size + 38}`}
        role="img"
        aria-label={t('outputs.rocAlt')}
      >
        <rect width={size} height={size} className={classes.frame} />
        <line x1="0" y1={size} x2={size} y2="0" className={classes.chance} />
        <polyline points={line} className={classes.curve} />
        <text x={size / 2} y={size + 20} textAnchor="middle">
          {t('outputs.fpr')}
        </text>
        <text transform={`translate(-12 ${size / 2}) rotate(-90)`} textAnchor="middle">
          {t('outputs.tpr')}
        </text>
      </svg>
      <details className={classes.details}>
        <summary>{t('metrics.numbers')}</summary>
        <CsvTable text={text} header={header} label={t('metrics.numbers')} />
      </details>
    </>
  );
}
