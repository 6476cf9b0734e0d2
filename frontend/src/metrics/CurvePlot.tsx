import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { type CSSProperties, type RefObject, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import uPlot from 'uplot';
import { formatMetric, numberFormat } from '../format/format';
import { timeZone } from '../format/zone';
import type { Axis } from './axis';
import classes from './CurvePlot.module.css';
import { type Curve, placesOf, smoothed, spread } from './curves';
import { seriesDash, seriesVariable } from './look';

export interface CurvePlotProps {
  curves: Curve[];
  label: string;
  axis: Axis;
  format: string;
  log: boolean;
  /** The x-axis is logarithmic. */
  logX: boolean;
  smooth: number;
  zoom: [number, number] | undefined;
  height: number;
  /** Charts with the same key share their crosshair. */
  sync: string;
  onZoom: (zoom: [number, number] | undefined) => void;
  /** Says which place the pointer is at; undefined when it has left. */
  onPlace: (x: number | undefined) => void;
  /** Where the drawn picture can be taken from. */
  canvas?: RefObject<HTMLCanvasElement | null>;
}

/** The lines themselves. What they show is also in a table, as a picture says nothing to a screen reader. */
export default function CurvePlot(props: CurvePlotProps) {
  const { curves, label, axis, format, log, logX, smooth, zoom, height, sync, onZoom, onPlace, canvas } = props;
  const { i18n } = useTranslation();
  const scheme = useComputedColorScheme();
  const frame = useRef<HTMLDivElement>(null);
  const { ref: measured, width } = useElementSize();
  const ref = useMergedRef(frame, measured);
  const plot = useRef<uPlot>(null);
  const told = useRef({ onZoom, onPlace });
  told.current = { onZoom, onPlace };

  // The shape decides which lines there are; values may change without a new plot.
  const shape = curves.map((curve) => `${curve.id} ${curve.low ? 'band' : ''}`).join();
  const [from, to] = zoom ?? [];

  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape stands for the curves, the scheme for the colours
  useEffect(() => {
    const host = frame.current;
    if (!host) return;
    const options = optionsOf(host, { ...props, ...listeners(told) }, i18n.language);
    const made = new uPlot(options, dataOf(props), host);
    plot.current = made;
    if (canvas) canvas.current = made.ctx.canvas;
    return () => {
      plot.current = null;
      if (canvas) canvas.current = null;
      made.destroy();
    };
  }, [scheme, i18n.language, shape, axis, format, log, logX, smooth, from, to, height, sync, canvas]);

  useEffect(() => {
    if (width > 0) plot.current?.setSize({ width, height });
  }, [width, height]);
  useEffect(() => plot.current?.setData(dataOf({ curves, smooth, log, logX })), [curves, smooth, log, logX]);

  return (
    <div
      ref={ref}
      className={classes.chart}
      style={{ '--plot-height': `${height}px` } as CSSProperties}
      role="img"
      aria-label={label}
      onDoubleClick={() => onZoom(undefined)}
    />
  );
}

type Told = RefObject<Pick<CurvePlotProps, 'onZoom' | 'onPlace'>>;

const listeners = (told: Told): Pick<CurvePlotProps, 'onZoom' | 'onPlace'> => ({
  onZoom: (zoom) => told.current.onZoom(zoom),
  onPlace: (x) => told.current.onPlace(x),
});

/** For each curve: its raw values when it is smoothed, the edges of its band when it is a mean, and the line itself. */
function dataOf({
  curves,
  smooth,
  log,
  logX,
}: Pick<CurvePlotProps, 'curves' | 'smooth' | 'log' | 'logX'>): uPlot.AlignedData {
  // A logarithmic scale has no place for zero and less.
  const places = placesOf(curves).filter((x) => !logX || x > 0);
  const shown = (y: (number | null | undefined)[]) =>
    log ? y.map((value) => (typeof value === 'number' && value <= 0 ? null : value)) : y;
  const columns = curves.flatMap((curve) => {
    const line = spread(curve, smoothed(curve.y, smooth), places);
    const raw = smooth > 0 ? [spread(curve, curve.y, places)] : [];
    const band = curve.low && curve.high ? [spread(curve, curve.high, places), spread(curve, curve.low, places)] : [];
    return [...raw, ...band, line].map(shown);
  });
  return [places, ...columns] as uPlot.AlignedData;
}

function optionsOf(host: HTMLElement, props: CurvePlotProps, language: string): uPlot.Options {
  const { curves, axis, format, log, logX, smooth, zoom, height, sync, onZoom, onPlace } = props;
  const style = getComputedStyle(host);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const common: uPlot.Axis = {
    stroke: colour('--ar-dimmed'),
    grid: { stroke: colour('--ar-line'), width: 1 },
    ticks: { show: false },
    font: `11px ${style.fontFamily}`,
  };
  const number = (value: number | null) => (value === null ? '' : formatMetric(value, format, language));
  const { series, bands } = linesOf(curves, smooth, colour);
  return {
    width: host.clientWidth || 400,
    height,
    legend: { show: false },
    tzDate: (at) => zoned(at * 1000),
    cursor: {
      sync: { key: sync },
      points: { size: 6 },
      drag: { x: true, y: false, setScale: false },
      // A double click belongs to the page, which keeps the zoom in its address.
      bind: { dblclick: () => null },
    },
    scales: {
      x: { time: axis === 'time', distr: logX ? 3 : 1, range: (_, min, max) => rangeOf(zoom, [min, max], logX) },
      y: log ? { distr: 3 } : { range: { min: { pad: 0.1 }, max: { pad: 0.1 } } },
    },
    axes: [
      axis === 'time'
        ? { ...common, size: 34 }
        : {
            ...common,
            size: 24,
            values: (_, at) => at.map((x) => plainNumber(x, language)),
            // uPlot itself would leave a range below ten without more than one mark.
            ...(logX ? { filter: (_: uPlot, at: number[]) => roundMarks(at) } : {}),
          },
      { ...common, size: 58, space: 26, values: (_, at) => at.map(number) },
    ],
    padding: [8, 12, 0, 0],
    hooks: {
      setCursor: [({ cursor, data }) => onPlace(typeof cursor.idx === 'number' ? data[0][cursor.idx] : undefined)],
      setSelect: [
        (made) => {
          const { left, width } = made.select;
          if (width < 4) return;
          onZoom([made.posToVal(left, 'x'), made.posToVal(left + width, 'x')]);
        },
      ],
    },
    bands,
    series: [{}, ...series],
  };
}

/** An instant as a date whose clock shows the reader's zone. */
function zoned(at: number): Date {
  const zone = timeZone();
  return zone ? uPlot.tzDate(new Date(at), zone) : new Date(at);
}

/** What the x-axis shows: what is zoomed to, else all. */
function rangeOf(zoom: [number, number] | undefined, [min, max]: [number, number], logX: boolean): [number, number] {
  if (zoom && logX) return [Math.max(zoom[0], Math.min(min, zoom[1] / 2)), zoom[1]];
  if (zoom) return zoom;
  // A curve of one point has a range too.
  if (min !== max) return [min, max];
  return logX ? [min / 2, max * 2] : [min - 1, max + 1];
}

/** The marks of a logarithmic axis that are written: 1, 2 and 5 of each power of ten, or only 1 where these are many. */
function roundMarks(at: number[]): (number | null)[] {
  const digits = at.length > 40 ? '1' : '125';
  return at.map((x) => (digits.includes(x.toExponential(3).replace(/^(\d)\.000e.*$/, '$1')) ? x : null));
}

const plainNumber = (value: number | null, language: string) => (value === null ? '' : numberText(value, language));

// The axis may be a metric such as a rate of learning.
const numberText = (value: number, language: string) =>
  value !== 0 && Math.abs(value) < 0.01
    ? formatMetric(value, undefined, language)
    : numberFormat(language, {
        maximumFractionDigits: 2,
        notation: Math.abs(value) >= 1e5 ? 'compact' : 'standard',
      }).format(value);

function linesOf(curves: Curve[], smooth: number, colour: (name: string) => string) {
  const series: uPlot.Series[] = [];
  const bands: uPlot.Band[] = [];
  curves.forEach((curve, i) => {
    const stroke = colour(seriesVariable(i));
    if (smooth > 0) series.push({ stroke: `${stroke}55`, width: 1, points: { show: false } });
    if (curve.low) {
      const edge: uPlot.Series = { stroke: 'transparent', points: { show: false } };
      series.push(edge, edge);
      bands.push({ series: [series.length - 1, series.length], fill: `${stroke}2e` });
    }
    series.push({
      stroke,
      width: 2,
      dash: seriesDash(i),
      points: { show: curve.x.length === 1, size: 6, fill: stroke },
    });
  });
  return { series, bands };
}
