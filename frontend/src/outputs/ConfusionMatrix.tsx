import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../format/format';
import { csvRows } from './csv';
import classes from './Outputs.module.css';

const mostCells = 10_000;

/** How often which class was taken for which: rows of target, predicted and count. */
export function ConfusionMatrix({ text, labels }: { text: string; labels: string[] }) {
  const { t, i18n } = useTranslation();
  const { counts, classNames, most } = useMemo(() => readMatrix(text, labels), [text, labels]);
  return (
    <section className={classes.scroll} tabIndex={0} aria-label={t('outputs.matrix')}>
      <table className={classes.matrix}>
        <thead>
          <tr>
            <th scope="col">{t('outputs.targetPredicted')}</th>
            {classNames.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {classNames.map((target) => (
            <tr key={target}>
              <th scope="row">{target}</th>
              {classNames.map((predicted) => {
                const count = counts.get(`${target}\n${predicted}`) ?? 0;
                // At most a third of the colour, so that the text on it stays readable.
                const share = Math.round((count / most) * 34);
                return (
                  <td
                    key={predicted}
                    style={{ background: `color-mix(in srgb, var(--ar-series-1) ${share}%, transparent)` }}
                  >
                    {formatNumber(count, i18n.language)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function readMatrix(text: string, labels: string[]) {
  const counts = new Map<string, number>();
  const names = new Set(labels);
  for (const [target = '', predicted = '', count] of csvRows(text, mostCells)) {
    const number = Number(count);
    if (count === undefined || !Number.isFinite(number)) continue;
    names.add(target);
    names.add(predicted);
    counts.set(`${target}\n${predicted}`, number);
  }
  return { counts, classNames: [...names], most: Math.max(1, ...counts.values()) };
}
