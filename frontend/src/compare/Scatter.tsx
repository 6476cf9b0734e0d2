import { Group, NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import type { Comparison } from '../api/compare';
import { seriesStroke } from '../metrics/look';
import { AxisTable } from './AxisTable';
import classes from './Compare.module.css';
import { Frame } from './Frame';
import { axes, places, spots } from './measure';

interface ScatterProps {
  comparison: Comparison;
  runs: Run[];
  x: string | undefined;
  y: string | undefined;
  onAxes: (axes: { x?: string; y?: string }) => void;
}

/** Any parameter or metric against any other, a point for each run. */
export function Scatter({ comparison, runs, x: xKey, y: yKey, onAxes }: ScatterProps) {
  const { t } = useTranslation();
  const all = axes(comparison);
  const x = all.find(({ key }) => key === xKey) ?? all[0];
  const y = all.find(({ key }) => key === yKey) ?? all.find(({ key }) => key.startsWith('metric:'));
  if (!x || !y || all.length < 2) return null;
  const points = spots(x, y);
  const options = all.map(({ key, label }) => ({ value: key, label }));
  return (
    <>
      <Group gap="sm" mb="xs">
        <NativeSelect
          size="xs"
          label={t('compare.x')}
          value={x.key}
          data={options}
          onChange={(event) => onAxes({ x: event.currentTarget.value })}
        />
        <NativeSelect
          size="xs"
          label={t('compare.y')}
          value={y.key}
          data={options}
          onChange={(event) => onAxes({ y: event.currentTarget.value })}
        />
      </Group>
      {points.length > 0 && (
        <Frame
          label={t('compare.scatterOf', { x: x.label, y: y.label })}
          xLabel={x.label}
          yLabel={y.label}
          xs={points.map((point) => point.x)}
          ys={points.map((point) => point.y)}
          xWords={places(x).words}
          yWords={places(y).words}
        >
          {(atX, atY) =>
            points.map((point) => {
              const run = runs.find(({ id }) => id === point.run);
              const at = runs.findIndex(({ id }) => id === point.run);
              return (
                <g key={point.run} className={classes.spot}>
                  <circle cx={atX(point.x)} cy={atY(point.y)} r={6} fill={seriesStroke(at).stroke} />
                  <text x={atX(point.x) + 9} y={atY(point.y)} dy="0.32em">
                    {at + 1}
                  </text>
                  <title>{`${run?.name}: ${x.values.get(point.run)}, ${y.values.get(point.run)}`}</title>
                </g>
              );
            })
          }
        </Frame>
      )}
      <AxisTable axes={x === y ? [x] : [x, y]} runs={runs} />
    </>
  );
}
