import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { versionQuery } from '../api/pipelines';
import { asProblem } from '../api/problem';
import { runQuery } from '../api/runs';
import { scheduleQuery } from '../api/schedules';
import { TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { NewRunForm } from './NewRunForm';
import type { NewRunSearch } from './newRunSearch';
import { type Source, sourceOfRun, sourceOfSchedule } from './source';

const route = getRouteApi('/runs/new');

export function NewRunPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const { source, error, waits, refetch } = useSource(search);
  const what = search.schedule ? t('schedules.awaitOne') : t('await.run');
  const title = search.replace
    ? t('newRun.changeSchedule')
    : search.recurring
      ? t('newRun.titleRecurring')
      : t('pages.newRun');
  return (
    <Page title={title} trail={<TextLink to="/runs">{t('pages.runs')}</TextLink>}>
      {error && <Failure title={t('failure.title', { what })} error={error} onRetry={refetch} />}
      {waits ? (
        <Awaiting what={what} />
      ) : (
        !error && <NewRunForm key={search.clone ?? search.schedule} search={search} source={source} />
      )}
    </Page>
  );
}

/** The run or the schedule that the form begins with. */
function useSource({ clone, schedule }: NewRunSearch) {
  const run = useQuery({ ...runQuery(clone ?? ''), enabled: Boolean(clone) });
  const job = useQuery({ ...scheduleQuery(schedule ?? ''), enabled: Boolean(schedule) });
  const versionID = job.data?.resource_references?.find(({ key }) => key?.type === 'PIPELINE_VERSION')?.key?.id;
  const version = useQuery({ ...versionQuery(versionID ?? ''), enabled: Boolean(versionID) });
  // A schedule runs on without its version, and can be changed without another.
  const gone = Boolean(version.error) && asProblem(version.error).status === 404;
  const source: Source | undefined =
    clone && run.data ? sourceOfRun(run.data) : schedule && job.data ? sourceOfSchedule(job.data, gone) : undefined;
  return {
    source,
    error: run.error ?? job.error ?? (gone ? null : version.error),
    waits: run.isLoading || job.isLoading || version.isLoading,
    refetch: () =>
      void Promise.all([run, job, version].filter(({ isError }) => isError).map((query) => query.refetch())),
  };
}
