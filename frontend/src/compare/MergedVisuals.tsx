import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { comparedVisualsQuery } from '../api/compare';
import { Failure } from '../feedback/Failure';
import { formatMetric } from '../format/format';
import { LineKey } from '../metrics/LineKey';
import { seriesStroke } from '../metrics/look';
import classes from './Compare.module.css';
import { Frame } from './Frame';
import { areaUnder, type Merged, mergeTables, mergeVisuals, rocPoints } from './merge';

/** The ROC curves of the runs over each other, and their tables in one. */
export function MergedVisuals({ runs }: { runs: Run[] }) {
  const { t } = useTranslation();
  const { data = [], error, refetch } = useQuery(comparedVisualsQuery(runs.map(({ id }) => id)));
  if (error) {
    const title = t('failure.title', { what: t('compare.visuals') });
    return <Failure title={title} error={error} onRetry={() => void refetch()} />;
  }
  const merged = mergeVisuals(data);
  if (merged.length === 0) return null;
  return (
    <section className={`panel ${classes.section}`} aria-label={t('compare.visuals')}>
      <h2 className={classes.heading}>{t('compare.visuals')}</h2>
      <div className={classes.figures}>
        {merged.map((one) =>
          one.type === 'roc' ? (
            <Roc key={one.key} merged={one} runs={runs} />
          ) : (
            <Tables key={one.key} merged={one} runs={runs} />
          ),
        )}
      </div>
    </section>
  );
}

interface MergedProps {
  merged: Merged;
  runs: Run[];
}

function Roc({ merged: { step, visuals }, runs }: MergedProps) {
  const { t, i18n } = useTranslation();
  const title = t('compare.rocOf', { step });
  const curves = runs.flatMap((run, i) => {
    const source = visuals.get(run.id)?.source;
    return source === undefined ? [] : [{ run, number: i + 1, points: rocPoints(source) }];
  });
  return (
    <figure className={classes.figure}>
      <figcaption>{title}</figcaption>
      <Frame
        label={t('compare.rocAlt', { step })}
        xLabel={t('outputs.fpr')}
        yLabel={t('outputs.tpr')}
        xs={[0, 1]}
        ys={[0, 1]}
      >
        {(x, y) => (
          <>
            <line x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} className={classes.chance} />
            {curves.map(({ run, number, points }) => {
              const path = points.map((p, i) => `${i === 0 ? 'M' : 'L'}${x(p.x).toFixed(1)} ${y(p.y).toFixed(1)}`);
              return (
                <path key={run.id} d={path.join('')} fill="none" {...seriesStroke(number - 1)} strokeWidth={2}>
                  <title>{`${number} ${run.name}`}</title>
                </path>
              );
            })}
          </>
        )}
      </Frame>
      <section className={classes.scroll} tabIndex={0} aria-label={t('compare.areas', { step })}>
        <Table verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t('field.run')}</Table.Th>
              <Table.Th scope="col" ta="right">
                {t('compare.area')}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {curves.map(({ run, number, points }) => (
              <Table.Tr key={run.id}>
                <Table.Th scope="row" fw="inherit">
                  <RunName run={run} number={number} />
                </Table.Th>
                <Table.Td ta="right">{formatMetric(areaUnder(points), 'RAW', i18n.language)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </figure>
  );
}

function Tables({ merged: { step, visuals }, runs }: MergedProps) {
  const { t } = useTranslation();
  const title = t('compare.tablesOf', { step });
  const { columns, rows } = mergeTables(visuals);
  return (
    <figure className={classes.figure}>
      <figcaption>{title}</figcaption>
      <section className={classes.scroll} tabIndex={0} aria-label={title}>
        <Table verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t('field.run')}</Table.Th>
              {columns.map((column) => (
                <Table.Th key={column} scope="col">
                  {column}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ run, cells }, i) => {
              const at = runs.findIndex(({ id }) => id === run);
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file have no other name
                <Table.Tr key={i}>
                  <Table.Th scope="row" fw="inherit">
                    <RunName run={runs[at]} number={at + 1} />
                  </Table.Th>
                  {cells.map((cell, column) => (
                    <Table.Td key={columns[column]}>{cell}</Table.Td>
                  ))}
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </section>
    </figure>
  );
}

/** A run with the line that its curves have. */
function RunName({ run, number }: { run: Run | undefined; number: number }) {
  return (
    <span className={classes.run}>
      <LineKey index={number - 1} />
      {number} {run?.name}
    </span>
  );
}
