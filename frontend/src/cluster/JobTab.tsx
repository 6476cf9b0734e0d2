import { NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import {
  jobObjectQuery,
  type ObjectName,
  type PodGroup,
  type Preemption,
  type RunJob,
  runJobsQuery,
} from '../api/cluster';
import { seriesListQuery, seriesQuery } from '../api/series';
import { TextLink } from '../app/links';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { Ago } from '../format/Ago';
import type { RunSearch, ShowPatch } from '../runs/runSearch';
import { isFinal } from '../status/status';
import { LazyYAMLView } from '../yaml/LazyYAMLView';
import classes from './Cluster.module.css';
import { MissingRights } from './MissingRights';
import { Placement } from './Placement';
import { StateBadge } from './StateBadge';
import { type Speed, speedMetric, speedsOf } from './throughput';
import { WorkersTable } from './WorkersTable';

interface JobTabProps {
  run: Run;
  search: RunSearch;
  onShow: ShowPatch;
}

// Enough points for the median of the last ones.
const points = 60;

/** The distributed jobs of a run: their workers, their gang and their objects. */
export function JobTab({ run, search, onShow }: JobTabProps) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(runJobsQuery(run));
  const what = t('job.await');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Awaiting what={what} rows={6} />;
  const jobs = data.jobs ?? [];
  return (
    <div className={classes.section}>
      <MissingRights missing={data.missing} />
      {jobs.length === 0 && (
        <Text c="dimmed" p="lg" role="status">
          {isFinal(run.status) ? t('job.noneFinal') : t('job.none')}
        </Text>
      )}
      {jobs.map((job) => (
        <Job key={`${job.kind}/${job.name}`} run={run} job={job} search={search} onShow={onShow} />
      ))}
    </div>
  );
}

function Job({ run, job, search, onShow }: JobTabProps & { job: RunJob }) {
  const workers = job.workers ?? [];
  const { metric, speeds } = useSpeeds(run, job);
  return (
    <section className="panel" aria-label={job.name}>
      <div className={classes.jobHead}>
        <Text component="h2" fw={620} size="sm" className="break">
          {`${job.kind} ${job.name}`}
        </Text>
        <StateBadge state={job.state} />
        {job.message && (
          <Text size="sm" className="break">
            {job.message}
          </Text>
        )}
      </div>
      <Facts job={job} metric={metric} />
      <Placement workers={workers} />
      <WorkersTable workers={workers} speeds={speeds} metric={metric} />
      <Objects run={run} job={job} search={search} onShow={onShow} />
    </section>
  );
}

function useSpeeds(run: Run, job: RunJob): { metric: string | undefined; speeds: Map<string, Speed> } {
  const list = useQuery(seriesListQuery(run));
  const metric = speedMetric(list.data ?? [], job.node_id);
  const series = useQuery({ ...seriesQuery(run, metric ?? '', points), enabled: Boolean(metric) });
  return { metric, speeds: speedsOf(job.workers ?? [], series.data ?? [], job.node_id) };
}

function Facts({ job, metric }: { job: RunJob; metric: string | undefined }) {
  const { t } = useTranslation();
  const { requested_world_size: asked, proved_world_size: proved } = job;
  return (
    <dl className={classes.facts}>
      <div>
        <dt>{t('field.step')}</dt>
        <dd className="break">{job.step_name || t('field.none')}</dd>
      </div>
      <div>
        <dt>{t('job.asked')}</dt>
        <dd>{asked ?? t('field.none')}</dd>
      </div>
      <div>
        <dt>{t('job.proved')}</dt>
        <dd>
          {proved ?? t('job.notYet')}
          {proved != null && asked != null && proved !== asked && (
            <span className={classes.straggler}> {t('job.fewer', { asked })}</span>
          )}
        </dd>
      </div>
      <div>
        <dt>{t('job.attempt')}</dt>
        <dd>{job.attempt}</dd>
      </div>
      <div>
        <dt>{t('field.created')}</dt>
        <dd>
          <Ago at={job.created_at} />
        </dd>
      </div>
      <div>
        <dt>{t('job.gang')}</dt>
        <dd>
          <Gang group={job.pod_group} />
        </dd>
      </div>
      {(job.priority_class || !!job.priority) && (
        <div>
          <dt>{t('job.priority')}</dt>
          <dd>{job.priority_class ? `${job.priority ?? 0} (${job.priority_class})` : job.priority}</dd>
        </div>
      )}
      {job.preemption && (
        <div>
          <dt>{t('job.preempted')}</dt>
          <dd className="break">
            <Preempted by={job.preemption} />
          </dd>
        </div>
      )}
      {!metric && (
        <div>
          <dt>{t('job.throughput')}</dt>
          <dd>{t('job.noThroughput')}</dd>
        </div>
      )}
    </dl>
  );
}

/** When the job lost its room, and to whom. */
function Preempted({ by }: { by: Preemption }) {
  const { t } = useTranslation();
  return (
    <>
      <Ago at={by.at} />{' '}
      {by.name
        ? t('job.preemptedBy', { who: `${by.kind} ${by.name}`, priority: by.priority ?? 0 })
        : t('job.preemptedByOthers')}
      {by.run_id && (
        <>
          {' · '}
          <TextLink to="/runs/$runId" params={{ runId: by.run_id }}>
            {by.run_name || by.run_id}
          </TextLink>
        </>
      )}
    </>
  );
}

function Gang({ group }: { group: PodGroup | null | undefined }) {
  const { t } = useTranslation();
  if (!group) return t('job.noGang');
  const values = {
    running: group.running ?? 0,
    succeeded: group.succeeded ?? 0,
    failed: group.failed ?? 0,
    min: group.min_available ?? 0,
    queue: group.queue,
  };
  const alone = values.min <= 1;
  return (
    <>
      <StateBadge state={group.phase} /> {t(alone ? 'job.oneByOne' : 'job.members', values)}
      {!alone && group.message && (
        <Text size="sm" c="dimmed" className="break">
          {group.message}
        </Text>
      )}
    </>
  );
}

const keyOf = ({ kind, name }: ObjectName) => `${kind}/${name}`;

/** The YAML of one of the job's objects, as the cluster has it. */
function Objects({ run, job, search, onShow }: JobTabProps & { job: RunJob }) {
  const { t } = useTranslation();
  const objects = job.objects ?? [];
  const chosen = objects.find((object) => keyOf(object) === search.object);
  return (
    <div className={classes.objects}>
      <NativeSelect
        size="xs"
        maw={520}
        label={t('job.objects')}
        value={chosen ? keyOf(chosen) : ''}
        onChange={(event) => onShow({ object: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: t('job.choose') },
          ...objects.map((object) => ({ value: keyOf(object), label: `${object.kind} ${object.name}` })),
        ]}
      />
      {chosen && <ObjectYAML run={run} object={chosen} />}
    </div>
  );
}

function ObjectYAML({ run, object }: { run: Run; object: ObjectName }) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(jobObjectQuery(run, object));
  const what = `${object.kind} ${object.name}`;
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Awaiting what={what} />;
  return <LazyYAMLView text={data} file={`${object.name}.yaml`} />;
}
