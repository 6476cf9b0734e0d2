import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Job, scheduleQuery } from '../api/schedules';
import { TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { ParameterTable } from '../feedback/ParameterTable';
import { Time } from '../format/Duration';
import { useMinute } from '../format/useNow';
import { RunsTable } from '../runs/RunsTable';
import { PauseButton, RunNowButton, ScheduleMenu } from './ScheduleActions';
import { ScheduleState } from './ScheduleState';
import classes from './Schedules.module.css';
import { Times, TriggerText } from './TriggerText';
import { triggerOf, upcoming } from './trigger';

const route = getRouteApi('/schedules/$scheduleId');
const shownTimes = 5;

/** One schedule: when it runs, with what, and its runs. */
export function SchedulePage() {
  const { t } = useTranslation();
  const { scheduleId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: job, error, refetch } = useQuery(scheduleQuery(scheduleId));
  const what = t('schedules.awaitOne');
  return (
    <Page
      title={job?.name ?? t('schedules.one')}
      trail={<TextLink to="/schedules">{t('pages.schedules')}</TextLink>}
      badge={job && <ScheduleState job={job} />}
      actions={
        job && (
          <>
            {job.status !== 'Succeeded' && <PauseButton job={job} />}
            <RunNowButton job={job} />
            <ScheduleMenu job={job} onDeleted={() => void navigate({ to: '/schedules' })} />
          </>
        )
      }
    >
      {error && <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />}
      {!job && !error && <Awaiting what={what} rows={8} />}
      {job && (
        <>
          {job.error && <Failure title={t('schedules.lastRefused')} error={new Error(job.error)} />}
          {job.description && (
            <Text c="dimmed" size="sm" className="break">
              {job.description}
            </Text>
          )}
          <div className={classes.columns}>
            <Facts job={job} />
            <Card title={t('newRun.parameters')}>
              <ParameterTable
                parameters={job.pipeline_spec?.parameters ?? []}
                empty={t('schedules.defaults')}
                caption={t('newRun.parameters')}
              />
            </Card>
          </div>
          <Title order={2} size="h4">
            {t('schedules.itsRuns')}
          </Title>
          <RunsTable search={search} scheduleID={job.id} />
        </>
      )}
    </Page>
  );
}

function Facts({ job }: { job: Job }) {
  const { t } = useTranslation();
  const now = useMinute();
  const trigger = triggerOf(job);
  const times = upcoming(trigger, Date.parse(job.created_at ?? ''), now, shownTimes);
  const reference = (type: string) => job.resource_references?.find(({ key }) => key?.type === type);
  const experiment = reference('EXPERIMENT');
  const version = reference('PIPELINE_VERSION');
  return (
    <Card title={t('schedules.when')}>
      <dl className={classes.facts}>
        <Fact term={t('schedules.runs')}>
          <TriggerText trigger={trigger} />
        </Fact>
        {trigger.start && (
          <Fact term={t('schedules.from')}>
            <Time at={trigger.start} />
          </Fact>
        )}
        {trigger.end && (
          <Fact term={t('schedules.until')}>
            <Time at={trigger.end} />
          </Fact>
        )}
        <Fact term={t('schedules.nextTimes')}>{job.enabled ? <Times times={times} /> : t('schedules.pausedNone')}</Fact>
        <Fact term={t('schedules.concurrency')}>
          {t('schedules.atOnce', { count: Number(job.max_concurrency ?? 1) })}
        </Fact>
        <Fact term={t('schedules.catchUp')}>
          {job.no_catchup ? t('schedules.catchUpNewest') : t('schedules.catchUpAll')}
        </Fact>
        {experiment?.key?.id && (
          <Fact term={t('field.experiment')}>
            <TextLink to="/experiments/$experimentId" params={{ experimentId: experiment.key.id }} className="break">
              {experiment.name || experiment.key.id}
            </TextLink>
          </Fact>
        )}
        <Fact term={t('field.version')}>{version?.name || t('runs.inline')}</Fact>
      </dl>
    </Card>
  );
}

function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={`panel ${classes.card}`} aria-label={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      {children}
    </section>
  );
}
