import { NativeSelect, Text } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { createLink } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { type ExperimentSearch, newestRunsQuery } from '../api/runs';
import { Frame } from '../compare/Frame';
import { ticks } from '../compare/scale';
import { formatMark, formatMetric, formatTime } from '../format/format';
import { metricNames } from '../runs/metricColumns';
import { useStatusWord } from '../status/StatusBadge';
import { isFailure } from '../status/status';
import { useListURL } from '../table/useListURL';
import classes from './MetricOverRuns.module.css';
import { OverRunsTable } from './OverRunsTable';
import { pointsOver, type RunPoint } from './overRuns';

interface MetricOverRunsProps {
  search: ExperimentSearch;
  experimentID: string;
}

/** A metric of the newest runs by the time that they started; nothing while no run reports one. */
export function MetricOverRuns({ search, experimentID }: MetricOverRunsProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { select } = useListURL(search);
  const { data } = useQuery({
    ...newestRunsQuery(search, { experimentID }, client),
    placeholderData: keepPreviousData,
  });
  const runs = data?.items ?? [];
  const names = metricNames(runs);
  const name = search.metric ?? names[0];
  const points = useMemo(() => pointsOver(data?.items ?? [], name ?? ''), [data, name]);
  if (!name) return null;
  const options = names.includes(name) ? names : [name, ...names];
  return (
    <section className={`panel ${classes.chart}`} aria-label={t('experiments.chart')}>
      <NativeSelect
        size="xs"
        w="max-content"
        maw="100%"
        mb="xs"
        label={t('field.metric')}
        value={name}
        data={options}
        onChange={(event) => select({ metric: event.currentTarget.value })}
      />
      {points.some(({ metric }) => metric) ? (
        <Picture name={name} points={points} />
      ) : (
        <Text size="sm">{t('experiments.chartEmpty')}</Text>
      )}
      {data && data.total > runs.length && (
        <Text size="xs" c="dimmed">
          {t('experiments.chartNewest', { shown: runs.length, total: data.total })}
        </Text>
      )}
      {points.some(({ metric }) => !metric) && (
        <Text size="xs" c="dimmed">
          {t('experiments.chartNone')}
        </Text>
      )}
      <OverRunsTable name={name} points={points} />
    </section>
  );
}

/** So many marks along the axis of time. */
const timeMarks = 4;

function Picture({ name, points }: { name: string; points: RunPoint[] }) {
  const { t, i18n } = useTranslation();
  const values = points.flatMap(({ metric }) => metric?.value ?? []);
  const format = points.find(({ metric }) => metric)?.metric?.format;
  const xs = points.map(({ at }) => at);
  const [first, last] = [Math.min(...xs), Math.max(...xs)];
  const marks =
    first === last
      ? [first]
      : Array.from({ length: timeMarks }, (_, i) => first + ((last - first) * i) / (timeMarks - 1));
  const sound = points.filter(({ run, metric }) => metric && !isFailure(run.status));
  // Where several steps report, a line through all values would say nothing.
  const single = new Set(sound.map(({ run }) => run.id)).size === sound.length;
  return (
    <Frame
      label={t('experiments.chartOf', { metric: name })}
      linked
      xLabel={t('field.started')}
      yLabel={name}
      xs={xs}
      ys={values}
      xMarks={marks.map((at) => ({ at, text: formatMark(at, last - first, i18n.language) }))}
      yMarks={ticks(Math.min(...values), Math.max(...values)).map((at) => ({
        at,
        text: formatMetric(at, format, i18n.language),
      }))}
    >
      {(x, y, bottom) => (
        <>
          {single && (
            <polyline
              className={classes.line}
              points={sound.map(({ at, metric }) => `${x(at)},${y(metric?.value ?? 0)}`).join(' ')}
            />
          )}
          {points.map((point) => (
            <Point
              key={`${point.run.id} ${point.metric?.node_id}`}
              point={point}
              x={x(point.at)}
              y={point.metric ? y(point.metric.value) : bottom}
            />
          ))}
        </>
      )}
    </Frame>
  );
}

// The table has the same links: the way by keyboard does not lead through every point.
const PointLink = createLink('a');

function Point({ point: { run, at, metric }, x, y }: { point: RunPoint; x: number; y: number }) {
  const { t, i18n } = useTranslation();
  const word = useStatusWord();
  const value = metric ? formatMetric(metric.value, metric.format, i18n.language) : t('field.none');
  const said = [run.name, value, word(run.status), formatTime(new Date(at).toISOString(), i18n.language)].join(', ');
  return (
    <PointLink to="/runs/$runId" params={{ runId: run.id }} tabIndex={-1} aria-label={said}>
      <title>{said}</title>
      <circle cx={x} cy={y} r={12} className={classes.room} />
      {isFailure(run.status) ? (
        <path d={`M${x - 5} ${y - 5}l10 10m0-10l-10 10`} className={classes.failed} />
      ) : (
        <circle cx={x} cy={y} r={5} className={classes.point} />
      )}
    </PointLink>
  );
}
