import { Progress, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Page as Rowed, Run } from '../api/client';
import {
  dueJobsQuery,
  failedRunsQuery,
  homeRows,
  homeStates,
  recentRunsQuery,
  runningRunsQuery,
  waitingRunsQuery,
} from '../api/home';
import type { Job } from '../api/schedules';
import { type Point, useRunsEvents } from '../api/useRunsEvents';
import { ButtonLink, TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { Ago } from '../format/Ago';
import { elapsed, formatDuration, formatMetric } from '../format/format';
import { useMinute, useNow } from '../format/useNow';
import { triggerOf, upcoming } from '../schedules/trigger';
import { StatusBadge } from '../status/StatusBadge';
import { useWaits } from '../waiting/RunStatus';
import { Capacity } from './Capacity';
import { Rows } from './Card';
import classes from './Home.module.css';
import { firstLine, usualDurations } from './progress';
import { RunLink } from './RunLink';
import { Succeeded } from './Succeeded';
import { meanOf, type Speed, type Speeds, withPoints } from './speed';
import { Ways } from './Ways';

/** What goes on now and how fast, what failed last and why, what waits and for what, what succeeded last, what is due, and what is left to run on. */
export function HomePage() {
  const { t } = useTranslation();
  const running = useQuery(runningRunsQuery);
  const waiting = useQuery(waitingRunsQuery);
  const failed = useQuery(failedRunsQuery);
  const recent = useQuery(recentRunsQuery);
  const jobs = useQuery(dueJobsQuery);
  const [speeds, setSpeeds] = useState<Speeds>(new Map());
  const onPoints = useCallback((points: Point[]) => setSpeeds((held) => withPoints(held, points)), []);
  useRunsEvents({}, onPoints);
  const queries = [running, waiting, failed, recent, jobs];
  const error = queries.find((query) => query.error)?.error;
  const what = t('home.await');
  const ready = running.data && waiting.data && failed.data && recent.data && jobs.data;
  return (
    <Page title={t('pages.home')} actions={<ButtonLink to="/runs/new">{t('runs.createRun')}</ButtonLink>}>
      {error && (
        <Failure
          title={t('failure.title', { what })}
          error={error}
          onRetry={() => void Promise.all(queries.map((query) => query.refetch()))}
        />
      )}
      {!ready && !error && <Awaiting what={what} rows={8} />}
      {ready && recent.data.length === 0 && jobs.data.length === 0 && <Ways />}
      {ready && (recent.data.length > 0 || jobs.data.length > 0) && (
        <div className={classes.grid}>
          <Running runs={running.data} usual={usualDurations(recent.data)} speeds={speeds} />
          <Failed runs={failed.data} />
          <Waiting runs={waiting.data} />
          <Succeeded recent={recent.data} />
          <Due jobs={jobs.data} />
          <Capacity />
        </div>
      )}
    </Page>
  );
}

interface RunningProps {
  runs: Rowed<Run>;
  /** The usual duration by the id of the pipeline, in milliseconds. */
  usual: Map<string, number>;
  speeds: Speeds;
}

function Running({ runs, usual, speeds }: RunningProps) {
  const { t } = useTranslation();
  return (
    <Rows title={t('home.running', { count: runs.total })} empty={runs.total === 0 && t('home.noneRunning')}>
      {runs.items.map((run) => (
        <RunningRow key={run.id} run={run} usual={usual.get(run.pipeline?.id ?? '')} speed={speeds.get(run.id)} />
      ))}
      <More status={homeStates.running} runs={runs} />
    </Rows>
  );
}

interface RunningRowProps {
  run: Run;
  usual: number | undefined;
  speed: Speed | undefined;
}

/** A run with the time that it has taken, beside the time that runs of its pipeline usually take, and how fast it is. */
function RunningRow({ run, usual, speed }: RunningRowProps) {
  const { t, i18n } = useTranslation();
  const ms = elapsed(run.started_at, undefined, useNow(true)) ?? 0;
  const time = formatDuration(ms, i18n.language);
  const text = usual
    ? t('home.ofUsual', { time, usual: formatDuration(usual, i18n.language) })
    : t('home.sinceStart', { time });
  return (
    <li>
      <div className={classes.line}>
        <RunLink run={run} />
        <StatusBadge phase={run.status} plain />
      </div>
      {usual && <Progress value={Math.min(100, (ms / usual) * 100)} size="sm" aria-label={`${run.name}: ${text}`} />}
      <div className={classes.line}>
        <Text size="xs" c="dimmed">
          {text}
        </Text>
        {speed && <SpeedText speed={speed} />}
      </div>
    </li>
  );
}

function SpeedText({ speed }: { speed: Speed }) {
  const { t, i18n } = useTranslation();
  const values = { name: speed.name, value: formatMetric(meanOf(speed), undefined, i18n.language) };
  const ranks = speed.ranks.size;
  return (
    <Text size="xs" fw={620}>
      {ranks === 1 ? t('home.speed', values) : t('home.speedOfRanks', { ...values, ranks })}
    </Text>
  );
}

function Failed({ runs }: { runs: Rowed<Run> }) {
  const { t } = useTranslation();
  return (
    <Rows title={t('home.failed', { count: runs.total })} empty={runs.total === 0 && t('home.noneFailed')}>
      {runs.items.map((run) => (
        <li key={run.id}>
          <div className={classes.line}>
            <RunLink run={run} />
            <Text size="xs" c="dimmed">
              <Ago at={run.finished_at ?? run.created_at} />
            </Text>
          </div>
          <Text size="sm" className="break" lineClamp={2}>
            {firstLine(run.error) || t('home.noCause')}
          </Text>
        </li>
      ))}
      <More status={homeStates.failed} runs={runs} />
    </Rows>
  );
}

function Waiting({ runs }: { runs: Rowed<Run> }) {
  const { t } = useTranslation();
  const waits = useWaits();
  return (
    <Rows title={t('home.waiting', { count: runs.total })} empty={runs.total === 0 && t('home.noneWaiting')}>
      {runs.items.map((run) => (
        <li key={run.id}>
          <div className={classes.line}>
            <RunLink run={run} />
            <Text size="xs" c="dimmed">
              <Ago at={run.created_at} />
            </Text>
          </div>
          <Text size="sm" className="break" lineClamp={3}>
            {waits(run) || t('home.accepted')}
          </Text>
        </li>
      ))}
      <More status={homeStates.waiting} runs={runs} />
    </Rows>
  );
}

function Due({ jobs }: { jobs: Job[] }) {
  const { t } = useTranslation();
  const now = useMinute();
  const due = jobs
    .filter(({ enabled }) => enabled)
    .flatMap((job) => {
      const [next] = upcoming(triggerOf(job), Date.parse(job.created_at ?? ''), now, 1);
      return next === undefined ? [] : [{ job, next }];
    })
    .sort((a, b) => a.next - b.next);
  return (
    <Rows title={t('home.due')} empty={due.length === 0 && t('home.noneDue')}>
      {due.slice(0, homeRows).map(({ job, next }) => (
        <li key={job.id}>
          <div className={classes.line}>
            <TextLink to="/schedules/$scheduleId" params={{ scheduleId: job.id }} fw={550} className="name">
              {job.name}
            </TextLink>
            <Text size="xs" c="dimmed">
              <Ago at={next} />
            </Text>
          </div>
          {job.error && (
            <Text size="sm" c="var(--ar-bad)" className="break" lineClamp={2}>
              {job.error}
            </Text>
          )}
        </li>
      ))}
    </Rows>
  );
}

/** Leads to the runs that have no row here, if there are some. */
function More({ status, runs: { items, total } }: { status: string[]; runs: Rowed<Run> }) {
  const { t } = useTranslation();
  if (total <= items.length) return null;
  return (
    <li>
      <TextLink to="/runs" search={{ status }}>
        {t('runs.moreValues', { count: total - items.length })}
      </TextLink>
    </li>
  );
}
