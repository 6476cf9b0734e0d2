import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { type ComparedSeries, comparedCurvesQuery } from '../api/compare';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { ChartNumbers } from '../metrics/ChartNumbers';
import type { Curve } from '../metrics/curves';
import { seriesStroke } from '../metrics/look';
import { useInView } from '../metrics/useInView';
import classes from './Compare.module.css';
import { Frame } from './Frame';

interface CurvesProps {
  series: ComparedSeries;
  runs: Run[];
  align: 'step' | 'time';
}

/** The curves of one metric of all runs, over each other. Its points are asked for once it is in view. */
export function Curves({ series, runs, align }: CurvesProps) {
  const { t } = useTranslation();
  const [ref, seen] = useInView<HTMLElement>();
  const ids = runs.map(({ id }) => id);
  const { data, error, refetch } = useQuery({ ...comparedCurvesQuery(ids, series.name ?? '', align), enabled: seen });
  const title = t('compare.curveOf', { metric: series.name, step: series.step_name });
  const own = data?.find(({ step_name }) => step_name === series.step_name);
  return (
    <figure className={classes.figure} ref={ref}>
      <figcaption>{title}</figcaption>
      {own ? (
        <Lines title={title} series={own} runs={runs} align={align} />
      ) : error ? (
        <Failure title={t('failure.title', { what: title })} error={error} onRetry={() => void refetch()} />
      ) : (
        <div className={classes.awaited}>{seen && <Awaiting what={title} rows={4} />}</div>
      )}
    </figure>
  );
}

function Lines({ title, series, runs, align }: CurvesProps & { title: string }) {
  const { t } = useTranslation();
  const lines = (series.runs ?? []).map(({ run_id, series: one }) => ({
    run: run_id ?? '',
    points: (one?.points ?? []).flatMap(({ x, value }) =>
      x === undefined || value === undefined ? [] : [{ x, value }],
    ),
  }));
  const all = lines.flatMap(({ points }) => points);
  if (all.length < 2) return null;
  return (
    <>
      <Frame
        label={title}
        xLabel={align === 'time' ? t('compare.seconds') : t('metrics.axis.step')}
        yLabel={series.name ?? ''}
        xs={all.map(({ x }) => x)}
        ys={all.map(({ value }) => value)}
      >
        {(x, y) =>
          lines.map(({ run, points }) => {
            const look = seriesStroke(runs.findIndex(({ id }) => id === run));
            const path = points.map((p, i) => `${i === 0 ? 'M' : 'L'}${x(p.x).toFixed(1)} ${y(p.value).toFixed(1)}`);
            return (
              <path key={run} d={path.join('')} fill="none" {...look} strokeWidth={2}>
                <title>{runs.find(({ id }) => id === run)?.name}</title>
              </path>
            );
          })
        }
      </Frame>
      <ChartNumbers
        name={title}
        curves={lines.map(({ run, points }) => numbered(run, runs, points))}
        axis={align === 'time' ? 'relative' : 'step'}
        format="RAW"
        zoom={undefined}
      />
    </>
  );
}

/** The curve of a run, which is called as in the table above. */
function numbered(id: string, runs: Run[], points: { x: number; value: number }[]): Curve {
  const i = runs.findIndex((run) => run.id === id);
  return {
    id,
    label: `${i + 1} ${runs[i]?.name ?? ''}`,
    x: points.map(({ x }) => x),
    y: points.map(({ value }) => value),
  };
}
