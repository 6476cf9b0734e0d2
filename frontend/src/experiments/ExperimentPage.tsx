import { Text } from '@mantine/core';
import { IconChartLine, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { deletedExperimentsQuery, experimentQuery } from '../api/experiments';
import { ButtonLink, TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { RunsTable } from '../runs/RunsTable';
import { ExperimentMenu, isArchived } from './ExperimentActions';
import { MetricOverRuns } from './MetricOverRuns';

const route = getRouteApi('/experiments/$experimentId');

export function ExperimentPage() {
  const { t } = useTranslation();
  const { experimentId } = route.useParams();
  const search = route.useSearch();
  const { data: experiment, error, refetch } = useQuery(experimentQuery(experimentId));
  // A deleted experiment with runs answers as an archived one; the list of deleted ones tells them apart.
  const gone = useQuery({ ...deletedExperimentsQuery, enabled: experiment !== undefined && isArchived(experiment) });
  const deleted = gone.data?.items.some(({ id }) => id === experimentId) ?? false;
  const settled = experiment && !gone.isLoading;
  const what = t('await.experiment');
  return (
    <Page
      title={experiment?.name ?? t('field.experiment')}
      trail={<TextLink to="/experiments">{t('pages.experiments')}</TextLink>}
      actions={
        settled && (
          <>
            {!deleted && (
              <ButtonLink
                to="/runs/new"
                search={{ experiment: experiment.id }}
                leftSection={<IconPlus size={16} aria-hidden />}
              >
                {t('runs.createRun')}
              </ButtonLink>
            )}
            <ButtonLink
              to="/scaling"
              search={{ experiment: experiment.id }}
              variant="default"
              leftSection={<IconChartLine size={16} aria-hidden />}
            >
              {t('pages.scaling')}
            </ButtonLink>
            <ExperimentMenu experiment={experiment} deleted={deleted} />
          </>
        )
      }
    >
      {error && <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />}
      {!experiment && !error && <Awaiting what={what} />}
      {deleted && <Text role="status">{t('experiments.wasDeleted')}</Text>}
      {experiment?.description && (
        <Text c="dimmed" size="sm" className="break">
          {experiment.description}
        </Text>
      )}
      {experiment && <MetricOverRuns search={search} experimentID={experiment.id} />}
      {experiment && <RunsTable search={search} experimentID={experiment.id} />}
    </Page>
  );
}
