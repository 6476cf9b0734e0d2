import { Button, Group, SegmentedControl, Text } from '@mantine/core';
import { IconArchive, IconFlask2, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Experiment, Page as ListPage, Run } from '../api/client';
import { experimentsQuery } from '../api/experiments';
import { runsOfExperimentsQuery } from '../api/runs';
import { useRunsEvents } from '../api/useRunsEvents';
import { ButtonLink, TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Empty } from '../feedback/Empty';
import { Ago } from '../format/Ago';
import type { Column } from '../table/DataTable';
import { FilterBar } from '../table/ListControls';
import { PagedTable } from '../table/PagedTable';
import { useListURL } from '../table/useListURL';
import { CreateExperiment } from './CreateExperiment';
import { DeletedExperiments } from './DeletedExperiments';
import { RestoreExperiment } from './ExperimentActions';
import { LastRuns } from './LastRuns';

const route = getRouteApi('/experiments');

export function ExperimentsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const url = useListURL(search);
  const [creating, setCreating] = useState(false);
  const list = useQuery({
    ...experimentsQuery(search),
    enabled: !search.deleted,
    placeholderData: keepPreviousData,
  });
  const newest = useQuery(runsOfExperimentsQuery(list.data?.items.map(({ id }) => id) ?? []));
  useRunsEvents();
  const columns = useColumns(newest.data, search.archived ?? false);

  const createButton = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      {t('experiments.create')}
    </Button>
  );

  return (
    <Page title={t('pages.experiments')} actions={createButton}>
      <FilterBar q={search.q} onFilter={(q) => url.change({ q }, true)}>
        <SegmentedControl
          aria-label={t('experiments.archive')}
          value={search.deleted ? 'deleted' : search.archived ? 'archived' : 'active'}
          data={[
            { value: 'active', label: t('runs.active') },
            { value: 'archived', label: t('runs.archived') },
            { value: 'deleted', label: t('experiments.deletedShort') },
          ]}
          onChange={(value) =>
            url.change({ archived: value === 'archived' || undefined, deleted: value === 'deleted' || undefined })
          }
        />
      </FilterBar>
      {search.deleted ? (
        <DeletedExperiments q={search.q} onClear={() => url.change({ q: undefined })} />
      ) : (
        <PagedTable
          list={list}
          what={t('await.experiments')}
          title={t('pages.experiments')}
          columns={columns}
          search={search}
          url={url}
          empty={
            search.archived ? (
              <Empty
                icon={<IconArchive aria-hidden />}
                title={t('experiments.emptyArchive')}
                text={t('experiments.emptyArchiveText')}
              />
            ) : (
              <Empty
                icon={<IconFlask2 aria-hidden />}
                title={t('experiments.emptyTitle')}
                text={t('experiments.emptyText')}
              >
                {createButton}
              </Empty>
            )
          }
        />
      )}
      {creating && <CreateExperiment onClose={() => setCreating(false)} />}
    </Page>
  );
}

function useColumns(newest: ListPage<Run> | undefined, archived: boolean): Column<Experiment>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('field.name'),
        sorts: true,
        cell: (row) => (
          <TextLink to="/experiments/$experimentId" params={{ experimentId: row.id }} fw={550} className="name">
            {row.name}
          </TextLink>
        ),
      },
      {
        id: 'description',
        header: t('field.description'),
        sorts: true,
        cell: (row) => (
          <Text size="sm" c="dimmed" lineClamp={2} maw={520}>
            {row.description || t('field.none')}
          </Text>
        ),
      },
      {
        id: 'last',
        header: t('experiments.lastRuns'),
        cell: (row) => <LastRuns experimentID={row.id} newest={newest} />,
      },
      {
        id: 'created_at',
        header: t('field.created'),
        sorts: true,
        width: 130,
        cell: (row) => <Ago at={row.created_at} />,
      },
      {
        id: 'actions',
        header: t('pipelines.actions'),
        align: 'right',
        width: 150,
        cell: (row) => (
          <Group justify="flex-end">
            {archived ? (
              <RestoreExperiment experiment={row} />
            ) : (
              <ButtonLink to="/runs/new" search={{ experiment: row.id }} size="compact-sm" variant="light">
                {t('runs.createRun')}
              </ButtonLink>
            )}
          </Group>
        ),
      },
    ],
    [t, newest, archived],
  );
}
