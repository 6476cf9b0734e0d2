import { Group, MultiSelect, NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { formatMetric } from '../format/format';
import { AxisTable } from './AxisTable';
import classes from './Compare.module.css';
import { type Axis, chosenAxes, places } from './measure';
import { look, scale, ticks } from './scale';

const size = { width: 960, height: 300, side: 70, top: 40, bottom: 16 };
const most = 10;

interface ParallelProps {
  all: Axis[];
  runs: Run[];
  /** Keys of the axes, from left to right. */
  axes: string[] | undefined;
  /** The id of the run that stands out. */
  mark: string | undefined;
  onChange: (patch: { axes?: string[]; mark?: string }) => void;
}

/** Each run as a line across parameters and metrics: which values go together. */
export function Parallel({ all, runs, axes, mark, onChange }: ParallelProps) {
  const { t } = useTranslation();
  const shown = chosenAxes(all, axes, most);
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
          <Lines axes={shown} runs={runs} marked={marked} />
          <AxisTable axes={shown} runs={runs} marked={marked} />
        </>
      )}
    </>
  );
}

function Lines({ axes, runs, marked }: { axes: Axis[]; runs: Run[]; marked: string | undefined }) {
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
    return { id, name, spots, ...look(i) };
  });
  // What stands out is drawn last, over the others.
  const ordered = [...lines].sort((a, b) => Number(a.id === marked) - Number(b.id === marked));
  return (
    <svg
      viewBox={`0 0 ${size.width} ${size.height}`}
      role="img"
      aria-label={t('compare.parallelOf', { axes: axes.map(({ label }) => label).join(', ') })}
      className={classes.wide}
    >
      {axes.map((axis, i) => (
        <AxisLine key={axis.key} axis={axis} x={x(i)} {...(scales[i] as (typeof scales)[number])} />
      ))}
      {ordered.map(({ id, name, spots, colour, dash }) => (
        <g key={id} className={classes.strand} data-faint={marked && marked !== id ? true : undefined}>
          <title>{name}</title>
          <path
            d={pathOf(spots)}
            fill="none"
            stroke={colour}
            strokeDasharray={dash}
            strokeWidth={marked === id ? 4 : 2}
          />
          {spots.map((spot) => (
            <circle key={spot.axis} cx={spot.x} cy={spot.y} r={3} fill={colour} />
          ))}
        </g>
      ))}
    </svg>
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
