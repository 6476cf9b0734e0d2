import { Group, MultiSelect, NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { formatMetric } from '../format/format';
import { seriesStroke } from '../metrics/look';
import { AxisBrush } from './AxisBrush';
import { AxisTable } from './AxisTable';
import { Brushed, BrushFields } from './BrushFields';
import { type Brush, readBrush, selectedRuns, withBrush } from './brush';
import classes from './Compare.module.css';
import { type Axis, chosenAxes, places } from './measure';
import { scale, ticks } from './scale';

const size = { width: 960, height: 300, side: 70, top: 40, bottom: 16 };
const most = 10;

interface ParallelProps {
  all: Axis[];
  runs: Run[];
  /** Keys of the axes, from left to right. */
  axes: string[] | undefined;
  /** The id of the run that stands out. */
  mark: string | undefined;
  /** Ranges of the axes, as writeBrush writes them. */
  brush: string[] | undefined;
  onChange: (patch: { axes?: string[]; mark?: string; brush?: string[] }) => void;
}

/** Each run as a line across parameters and metrics: which values go together. A drag over an axis selects runs. */
export function Parallel({ all, runs, axes, mark, brush, onChange }: ParallelProps) {
  const { t } = useTranslation();
  const shown = chosenAxes(all, axes, most);
  const brushes = (brush ?? []).flatMap((text) => readBrush(text) ?? []);
  const selected = selectedRuns(shown, brushes);
  const onBrush = (texts: string[] | undefined) => onChange({ brush: texts });
  const marked = runs.find(({ id }) => id === mark)?.id;
  return (
    <>
      <Group gap="sm" mb="xs" align="flex-end">
        <MultiSelect
          size="xs"
          miw={280}
          maw="100%"
          label={t('compare.axes')}
          value={shown.map(({ key }) => key)}
          data={all.map(({ key, label }) => ({ value: key, label }))}
          maxValues={most}
          searchable
          onChange={(keys) => onChange({ axes: keys.length > 0 ? keys : undefined })}
        />
        <NativeSelect
          size="xs"
          label={t('compare.mark')}
          value={marked ?? ''}
          data={[
            { value: '', label: t('compare.markNone') },
            ...runs.map(({ id, name }, i) => ({ value: id, label: `${i + 1} ${name}` })),
          ]}
          onChange={(event) => onChange({ mark: event.currentTarget.value || undefined })}
        />
      </Group>
      {shown.length > 1 && (
        <>
          <Lines
            axes={shown}
            runs={runs}
            marked={marked}
            brushes={brushes}
            selected={selected}
            onRange={(key, range) => onBrush(withBrush(brush, key, range))}
          />
          <Brushed runs={runs} selected={selected} onClear={() => onBrush(undefined)} />
          <BrushFields axes={shown} brushes={brushes} texts={brush} onChange={onBrush} />
          <AxisTable axes={shown} runs={runs} marked={marked} selected={selected} />
        </>
      )}
    </>
  );
}

interface LinesProps {
  axes: Axis[];
  runs: Run[];
  marked: string | undefined;
  brushes: Brush[];
  selected: Set<string> | undefined;
  onRange: (key: string, range: { from?: number; to?: number } | undefined) => void;
}

function Lines({ axes, runs, marked, brushes, selected, onRange }: LinesProps) {
  const { t } = useTranslation();
  const scales = axes.map((axis) => {
    const { at, words } = places(axis);
    const { low, high, at: y } = scale([...at.values()], size.height - size.bottom, size.top);
    return { at, words, low, high, y };
  });
  const gap = (size.width - 2 * size.side) / (axes.length - 1);
  const x = (i: number) => size.side + i * gap;
  const lines = runs.map(({ id, name }, i) => {
    const spots = scales.flatMap(({ at, y }, axis) => {
      const value = at.get(id);
      return value === undefined ? [] : [{ axis, x: x(axis), y: y(value) }];
    });
    const faint = selected ? !selected.has(id) : marked !== undefined && marked !== id;
    const width = marked === id ? 4 : selected?.has(id) ? 3 : 2;
    return { id, name, spots, faint, width, look: seriesStroke(i) };
  });
  // What stands out is drawn last, over the others.
  const ordered = [...lines].sort((a, b) => Number(b.faint) - Number(a.faint) || a.width - b.width);
  const label = axes.map((axis) => axis.label).join(', ');
  return (
    // A narrow page moves it sideways, by keyboard too.
    <section aria-label={`${t('compare.axes')}: ${label}`} tabIndex={0} className={classes.sideways}>
      <svg
        viewBox={`0 0 ${size.width} ${size.height}`}
        role="img"
        aria-label={t('compare.parallelOf', { axes: label })}
        className={classes.wide}
      >
        {axes.map((axis, i) => (
          <AxisLine key={axis.key} axis={axis} x={x(i)} {...(scales[i] as (typeof scales)[number])} />
        ))}
        {ordered.map(({ id, name, spots, faint, width, look }) => (
          <g key={id} className={classes.strand} data-faint={faint || undefined}>
            <title>{name}</title>
            <path d={pathOf(spots)} fill="none" {...look} strokeWidth={width} />
            {spots.map((spot) => (
              <circle key={spot.axis} cx={spot.x} cy={spot.y} r={3} fill={look.stroke} />
            ))}
          </g>
        ))}
        {axes.map(({ key }, i) => {
          const { low, high } = scales[i] as (typeof scales)[number];
          return (
            <AxisBrush
              key={key}
              x={x(i)}
              top={size.top}
              bottom={size.height - size.bottom}
              low={low}
              high={high}
              range={brushes.find((brush) => brush.key === key)}
              onRange={(range) => onRange(key, range)}
            />
          );
        })}
      </svg>
    </section>
  );
}

interface AxisLineProps {
  axis: Axis;
  x: number;
  low: number;
  high: number;
  words?: string[];
  y: (value: number) => number;
}

function AxisLine({ axis, x, low, high, words, y }: AxisLineProps) {
  const { i18n } = useTranslation();
  const marks = words
    ? words.map((text, at) => ({ at, text }))
    : ticks(low, high, 4).map((at) => ({ at, text: formatMetric(at, 'RAW', i18n.language) }));
  return (
    <g>
      <text x={x} y={16} textAnchor="middle" className={classes.axisName}>
        <title>{axis.label}</title>
        {shortened(axis.label, 20)}
      </text>
      <line x1={x} x2={x} y1={size.top - 8} y2={size.height - size.bottom} className={classes.axis} />
      {marks.map(({ at, text }) => (
        <text key={at} x={x - 6} y={y(at)} dy="0.32em" textAnchor="end">
          {shortened(text, 10)}
        </text>
      ))}
    </g>
  );
}

/** A line through the spots of neighbouring axes; where a run has no value the line is broken. */
function pathOf(spots: { axis: number; x: number; y: number }[]): string {
  return spots
    .map((spot, i) => {
      const joined = i > 0 && spots[i - 1]?.axis === spot.axis - 1;
      return `${joined ? 'L' : 'M'}${spot.x.toFixed(1)} ${spot.y.toFixed(1)}`;
    })
    .join('');
}

const shortened = (text: string, longest: number) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text);
