import { useTranslation } from 'react-i18next';
import type { ScalingLine, ScalingResult } from '../api/scaling';
import { Frame, type Mark } from '../compare/Frame';
import { ticks } from '../compare/scale';
import { figure, logTicks, percent, spread } from './numbers';
import classes from './Scaling.module.css';

interface Point {
  label: string;
  x: number;
  y: number;
  low?: number;
  high?: number;
  runs: number[];
}

interface Picture {
  title: string;
  xLabel: string;
  points: Point[];
  /** What the runs would give if each rank kept its speed. */
  ideal?: (point: Point) => number;
  xMarks: Mark[];
  logarithmic?: boolean;
  text: (value: number) => string;
  /** As the axis has it. */
  axisText: (value: number) => string;
}

/** The charts of a line: throughput, and where ranks change efficiency, over a logarithmic axis of ranks. */
export function ScalingCharts({ report, line }: { report: ScalingResult; line: ScalingLine }) {
  const { t, i18n } = useTranslation();
  const cells = line.cells ?? [];
  const base = cells.find(({ at }) => (at ?? '') === (line.base ?? ''));
  const number = (value: number) => figure(value, i18n.language);
  const scaling = report.scaling && cells.every(({ ranks }) => ranks);
  const ordered = scaling ? [...cells].sort((a, b) => (a.ranks ?? 0) - (b.ranks ?? 0)) : cells;
  const place = (i: number) => (scaling ? Math.log2(ordered[i]?.ranks ?? 1) : i);
  const marks = ordered.map(({ at, ranks }, i) => ({ at: place(i), text: scaling ? number(ranks ?? 0) : (at ?? '') }));
  const xLabel = scaling ? t('scaling.ranks') : (report.by ?? '');
  const throughput: Picture = {
    title: report.metric ?? '',
    xLabel,
    xMarks: marks,
    logarithmic: scaling,
    text: number,
    axisText: number,
    points: ordered.map((cell, i) => ({
      label: cell.at ?? '',
      x: place(i),
      y: cell.median ?? 0,
      runs: cell.values ?? [],
      ...spread(cell),
    })),
    ideal: scaling ? ({ x }) => (base?.per_rank ?? 0) * 2 ** x : undefined,
  };
  const efficiency: Picture = {
    title: t('scaling.efficiency'),
    xLabel,
    xMarks: marks,
    text: (value) => percent(value, i18n.language),
    axisText: (value) => percent(value, i18n.language, 0),
    points: ordered.map((cell, i) => ({
      label: cell.at ?? '',
      x: place(i),
      y: cell.efficiency ?? 0,
      low: cell.against?.low,
      high: cell.against?.high,
      runs: (cell.values ?? []).map((value) => value / (cell.ranks || 1) / (base?.per_rank || 1)),
    })),
    ideal: () => 1,
  };
  return (
    <div className={classes.charts}>
      {(scaling ? [throughput, efficiency] : [throughput]).map((picture) => (
        <Chart key={picture.title} picture={picture} />
      ))}
    </div>
  );
}

function Chart({ picture }: { picture: Picture }) {
  const { t } = useTranslation();
  const { title, xLabel, points, ideal, xMarks, logarithmic, text, axisText } = picture;
  const up = (value: number) => (logarithmic ? Math.log10(value) : value);
  const all = points.flatMap((point) => [
    point.y,
    ...point.runs,
    ...(point.low !== undefined && point.high !== undefined ? [point.low, point.high] : []),
    ...(ideal ? [ideal(point)] : []),
  ]);
  const values = all.filter((value) => value > 0);
  const range = [Math.min(...values), Math.max(...values)] as const;
  const yMarks = (logarithmic ? logTicks(...range) : ticks(...range)).map((value) => ({
    at: up(value),
    text: axisText(value),
  }));
  const spoken = points.map(({ label, y }) => `${label}: ${text(y)}`).join('; ');
  return (
    <figure className={classes.figure}>
      <figcaption>
        {title}
        {ideal && (
          <span className={classes.legend}>
            <svg width="26" height="8" aria-hidden="true">
              <line x1="0" x2="26" y1="4" y2="4" className={classes.ideal} />
            </svg>
            {t('scaling.ideal')}
          </span>
        )}
      </figcaption>
      <Frame
        label={t('scaling.chartOf', { metric: title, by: xLabel, values: spoken })}
        xLabel={xLabel}
        yLabel={title}
        xs={points.map(({ x }) => x)}
        ys={values.map(up)}
        xMarks={xMarks}
        yMarks={yMarks}
      >
        {(x, y) => (
          <>
            {ideal && (
              <polyline
                className={classes.ideal}
                points={points.map((point) => `${x(point.x)},${y(up(ideal(point)))}`).join(' ')}
              />
            )}
            {ideal && (
              <polyline
                className={classes.curve}
                points={points.map((point) => `${x(point.x)},${y(up(point.y))}`).join(' ')}
              />
            )}
            {points.map((point) => (
              <Cell key={point.label} point={point} x={x} y={(value) => y(up(value))} text={text} />
            ))}
          </>
        )}
      </Frame>
    </figure>
  );
}

interface CellProps {
  point: Point;
  x: (value: number) => number;
  y: (value: number) => number;
  text: (value: number) => string;
}

/** A cell: its runs beside its median, and the interval through it. */
function Cell({ point, x, y, text }: CellProps) {
  const at = x(point.x);
  const bounded = point.low !== undefined && point.high !== undefined && point.low > 0;
  return (
    <g>
      <title>{`${point.label}: ${text(point.y)}`}</title>
      {point.runs.map((value, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: runs of a cell may have the same value, and stay in their order
        <circle key={i} cx={at + 10} cy={y(value)} r={3} className={classes.run} />
      ))}
      {bounded && (
        <path
          className={classes.interval}
          d={`M${at} ${y(point.low ?? 0)}V${y(point.high ?? 0)}M${at - 5} ${y(point.low ?? 0)}h10M${at - 5} ${y(point.high ?? 0)}h10`}
        />
      )}
      <circle cx={at} cy={y(point.y)} r={4.5} className={classes.median} />
    </g>
  );
}
