import { ActionIcon, Group, Menu, Text, Title, Tooltip } from '@mantine/core';
import { IconDownload, IconMaximize, IconMinimize } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { asProblem } from '../api/problem';
import { mostPoints, readSeries, type Series, seriesQuery } from '../api/series';
import { announce } from '../app/announce';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { type RunSearch, readZoom, type ShowPatch } from '../runs/runSearch';
import { isFinal } from '../status/status';
import { metricOf } from './axis';
import { ChartNumbers } from './ChartNumbers';
import { chooseCurves, extentOf, fewestPoints, mostCurves, partOf, pointsFor, refined } from './choose';
import { csvOf, placesOf } from './curves';
import { save, savePicture } from './download';
import { Legend } from './Legend';
import classes from './Metrics.module.css';
import { useInView } from './useInView';

const CurvePlot = lazy(() => import('./CurvePlot'));

interface MetricChartProps {
  run: Run;
  /** The metric's name. */
  name: string;
  search: RunSearch;
  nameOf: (nodeID: string) => string;
  full?: boolean;
  onShow: ShowPatch;
}

/** The curves of one metric, with what they show as numbers. */
export function MetricChart({ run, name, search, nameOf, full = false, onShow }: MetricChartProps) {
  const { t } = useTranslation();
  const [ref, seen] = useInView<HTMLElement>();
  const [place, setPlace] = useState<number>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const axis = search.x ?? 'step';
  const zoom = useMemo(() => readZoom(search.zoom), [search.zoom]);
  const along = metricOf(axis);
  const logX = search.xscale === 'log' && axis !== 'time';
  const { data: coarse } = useQuery({ ...seriesQuery(run, name, fewestPoints), enabled: seen });
  const { data: coarseAlong } = useQuery(alongQuery(run, along, fewestPoints, seen));
  const whole = useCurves(run, coarse, coarseAlong, search, nameOf);
  const extent = useMemo(() => extentOf(whole.curves), [whole]);
  const part = useMemo(() => partOf(zoom, axis, beganAt(run)), [zoom, axis, run]);
  const points = part ? fewestPoints : pointsFor(zoom, extent, mostPoints);
  const own = useQuery({ ...seriesQuery(run, name, points, part), enabled: seen });
  const beside = useQuery(alongQuery(run, along, points, seen));
  const error = own.error ?? (along ? beside.error : null);
  const finest = useMemo(() => (part && coarse ? refined(coarse, own.data) : own.data), [part, coarse, own.data]);
  const series = along && !beside.data ? undefined : finest;
  const { curves, all } = useCurves(run, series, beside.data, search, nameOf);
  const places = useMemo(() => placesOf(curves), [curves]);
  const format = series?.[0]?.format ?? 'RAW';
  const onZoom = useCallback(
    (to: [number, number] | undefined) => onShow({ zoom: to && `${short(to[0])}~${short(to[1])}` }),
    [onShow],
  );
  const csv = async () => {
    try {
      save(
        new Blob([csvOf(await readSeries(run.id, name, mostPoints), nameOf)], { type: 'text/csv' }),
        `${run.name} ${name}.csv`,
      );
    } catch (failed) {
      announce(asProblem(failed).message);
    }
  };
  const picture = () => {
    const background = getComputedStyle(document.documentElement).getPropertyValue('--ar-surface');
    if (canvas.current) savePicture(canvas.current, background, `${run.name} ${name}.png`);
  };
  const height = full ? Math.max(320, Math.round(window.innerHeight * 0.55)) : 190;
  const what = t('metrics.curvesOf', { name });
  const noPlace = along ? t('metrics.noPlaceBeside', { name: along }) : t('metrics.noPlace');
  const emptyText = series?.length && search.ranks ? t('metrics.noRank') : noPlace;

  return (
    <section ref={ref} className={`panel ${classes.chart}`} aria-label={what}>
      <Group justify="space-between" gap={4} wrap="nowrap" align="flex-start">
        <Title order={2} size="h6" className={classes.name}>
          {name}
        </Title>
        <Group gap={0} wrap="nowrap">
          <Menu position="bottom-end">
            <Menu.Target>
              <ActionIcon size="md" variant="subtle" color="gray" aria-label={t('metrics.save', { name })}>
                <IconDownload size={16} aria-hidden />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => void csv()}>{t('metrics.csv')}</Menu.Item>
              <Menu.Item onClick={picture}>{t('metrics.png')}</Menu.Item>
            </Menu.Dropdown>
          </Menu>
          <Tooltip label={t(full ? 'metrics.smaller' : 'metrics.full')}>
            <ActionIcon
              size="md"
              variant="subtle"
              color="gray"
              aria-label={t(full ? 'metrics.smallerOf' : 'metrics.fullOf', { name })}
              onClick={() => onShow({ open: full ? undefined : name })}
            >
              {full ? <IconMinimize size={16} aria-hidden /> : <IconMaximize size={16} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        </Group>
      </Group>
      {error && !series ? (
        <Failure
          title={t('failure.title', { what })}
          error={error}
          onRetry={() => void Promise.all([own, along ? beside : own].map((query) => query.refetch()))}
        />
      ) : !series ? (
        <div style={{ minHeight: height }}>{seen && <Awaiting what={what} rows={4} />}</div>
      ) : places.length === 0 ? (
        <Text size="sm" c="dimmed" mih={height} role="status">
          {emptyText}
        </Text>
      ) : (
        <>
          <Suspense fallback={<div style={{ minHeight: height }} />}>
            <CurvePlot
              curves={curves}
              label={t('metrics.alt', { name })}
              axis={axis}
              format={format}
              log={search.scale === 'log'}
              logX={logX}
              smooth={search.smooth ?? 0}
              zoom={zoom}
              height={height}
              sync={`${run.id} ${axis}`}
              onZoom={onZoom}
              onPlace={setPlace}
              canvas={canvas}
            />
          </Suspense>
          <Legend curves={curves} place={place} format={format} />
          <Notes
            series={series}
            part={part && own.data}
            shown={curves.length}
            all={all}
            lost={lostBy(search, series, logX ? places : [])}
            along={along}
            live={!isFinal(run.status)}
          />
          <ChartNumbers name={name} curves={curves} axis={axis} format={format} zoom={zoom} />
        </>
      )}
    </section>
  );
}

/** When the run began, in seconds since 1970. */
const beganAt = (run: Run) => Date.parse(run.started_at ?? run.created_at ?? '') / 1000 || 0;

const short = (value: number) => Number(value.toPrecision(12));

/** The series of the metric that is the axis. All charts share it; where there is none, nothing is asked. */
const alongQuery = (run: Run, along: string | undefined, points: number, seen: boolean) => ({
  ...seriesQuery(run, along ?? '', points),
  enabled: seen && along !== undefined,
});

function useCurves(
  run: Run,
  series: Series[] | undefined,
  beside: Series[] | undefined,
  search: RunSearch,
  nameOf: (id: string) => string,
) {
  const { t } = useTranslation();
  const { x = 'step', ranks } = search;
  return useMemo(() => {
    const began = beganAt(run);
    const words = {
      rank: (rank: number) => t('metrics.rank', { rank }),
      mean: (label: string, count: number) => t('metrics.meanOf', { label, count }),
      nobody: t('metrics.noOne'),
    };
    const along = { axis: x, began, of: metricOf(x) === undefined ? undefined : (beside ?? []) };
    return chooseCurves(series ?? [], { along, ranks, nameOf, words });
  }, [t, run, series, beside, x, ranks, nameOf]);
}

/** Whether logarithmic axes leave something out. */
function lostBy({ scale }: RunSearch, series: Series[], placesOnLog: number[]): boolean {
  const below = (value: number | null) => value !== null && value <= 0;
  return (
    placesOnLog.some(below) || (scale === 'log' && series.some((one) => one.points.some(({ value }) => below(value))))
  );
}

interface NotesProps {
  series: Series[];
  /** The finer series of what is zoomed to. */
  part: Series[] | undefined;
  shown: number;
  all: number;
  /** Logarithmic axes leave something out. */
  lost: boolean;
  /** The metric that is the axis. */
  along: string | undefined;
  live: boolean;
}

/** Says what the chart does not show. */
function Notes({ series, part, shown, all, lost, along, live }: NotesProps) {
  const { t } = useTranslation();
  const sampled = (part ?? series).filter((one) => one.sampled);
  const notes: string[] = [];
  if (part && sampled.length > 0) {
    notes.push(t('metrics.sampledPart'));
  } else if (sampled.length > 0) {
    const total = sampled.reduce((sum, one) => sum + one.total, 0);
    const kept = sampled.reduce((sum: number, one) => sum + one.points.length, 0);
    notes.push(t('metrics.sampled', { kept, total }));
  }
  if (shown < all) notes.push(t('metrics.tooMany', { shown, all, most: mostCurves }));
  const odd = series.reduce((sum: number, one) => sum + one.points.filter(({ value }) => value === null).length, 0);
  if (odd > 0) notes.push(t('metrics.notNumbers', { count: odd }));
  if (lost) notes.push(t('metrics.noLog'));
  if (along) notes.push(t('metrics.joined', { name: along }));
  if (live) notes.push(t('metrics.grows'));
  return notes.map((note) => (
    <Text key={note} size="xs" c="dimmed">
      {note}
    </Text>
  ));
}
