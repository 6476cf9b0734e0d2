import 'uplot/dist/uPlot.min.css';
import { Table, useComputedColorScheme } from '@mantine/core';
import { useElementSize, useMergedRef } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import uPlot from 'uplot';
import { formatMetric, formatNumber } from '../format/format';
import classes from './CurveChart.module.css';
import type { Curve } from './throughput';

const height = 128;

interface CurveChartProps {
  curve: Curve;
  /** Told which point the pointer is at; undefined when it has left. */
  onPoint: (index: number | undefined) => void;
}

/** images/sec over training steps, with its printed uncertainty as a band, and the same numbers as a table. */
export default function CurveChart({ curve, onPoint }: CurveChartProps) {
  const { t, i18n } = useTranslation();
  const scheme = useComputedColorScheme();
  const frame = useRef<HTMLDivElement>(null);
  const { ref: measured, width } = useElementSize();
  const ref = useMergedRef(frame, measured);
  const chart = useRef<uPlot>(null);
  const language = i18n.language;
  const stepLabel = t('run.trainingStep');

  // biome-ignore lint/correctness/useExhaustiveDependencies: the scheme decides the colours that are read from the page
  useEffect(() => {
    const host = frame.current;
    if (!host) return;
    const plot = new uPlot(options(host, language, onPoint), dataOf(curve), host);
    chart.current = plot;
    return () => {
      chart.current = null;
      plot.destroy();
    };
  }, [scheme, language, onPoint]);

  useEffect(() => {
    if (width > 0) chart.current?.setSize({ width, height });
  }, [width]);
  useEffect(() => chart.current?.setData(dataOf(curve)), [curve]);

  return (
    <>
      <div ref={ref} className={classes.chart} role="img" aria-label={t('run.chartAlt')} />
      <details className={classes.numbers}>
        <summary>{t('run.chartTable')}</summary>
        <section className={classes.scroll} tabIndex={0} aria-label={t('run.chartTable')}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{stepLabel}</Table.Th>
                <Table.Th scope="col">images/sec</Table.Th>
                <Table.Th scope="col">{t('run.uncertainty')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {curve.step.map((step, i) => (
                <Table.Tr key={step}>
                  <Table.Td>{formatNumber(step, language)}</Table.Td>
                  <Table.Td>{formatMetric(curve.rate[i] ?? 0, 'RAW', language)}</Table.Td>
                  <Table.Td>± {formatMetric(curve.spread[i] ?? 0, 'RAW', language)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      </details>
    </>
  );
}

const dataOf = ({ step, rate, spread }: Curve): uPlot.AlignedData => [
  step,
  rate.map((value, i) => value + (spread[i] ?? 0)),
  rate.map((value, i) => value - (spread[i] ?? 0)),
  rate,
];

function options(host: HTMLElement, language: string, onPoint: CurveChartProps['onPoint']): uPlot.Options {
  const style = getComputedStyle(host);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const curve = colour('--ar-curve');
  const number = (value: number) => formatMetric(value, 'RAW', language);
  const axis: uPlot.Axis = {
    stroke: colour('--mantine-color-dimmed'),
    grid: { stroke: colour('--ar-line'), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
    values: (_, values) => values.map(number),
  };
  const edge: uPlot.Series = { stroke: 'transparent', points: { show: false } };
  return {
    width: host.clientWidth || 400,
    height,
    legend: { show: false },
    cursor: { points: { size: 7 } },
    scales: { x: { time: false }, y: { range: { min: { pad: 0.15, soft: 0, mode: 2 }, max: { pad: 0.15 } } } },
    axes: [
      { ...axis, size: 26 },
      { ...axis, size: 56, space: 24 },
    ],
    padding: [8, 12, 0, 0],
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
    bands: [{ series: [1, 2], fill: `${curve}33` }],
    series: [
      {},
      edge,
      edge,
      {
        stroke: curve,
        width: 2,
        points: { size: 6, fill: curve },
      },
    ],
  };
}
