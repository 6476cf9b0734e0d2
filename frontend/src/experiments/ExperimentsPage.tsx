import { Button, Group, Stack, Text } from '@mantine/core';
import { IconFlask2, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Experiment } from '../api/client';
import { experimentsQuery } from '../api/experiments';
import { newestFirst } from '../api/pipelines';
import { ButtonLink, TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { Time } from '../format/Duration';
import { type Column, DataTable } from '../table/DataTable';
import { FilterBar, Pager } from '../table/ListControls';
import { NoMatch } from '../table/NoMatch';
import { useListURL } from '../table/useListURL';
import { CreateExperiment } from './CreateExperiment';
import { LastRuns } from './LastRuns';

const route = getRouteApi('/experiments');

export function ExperimentsPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const { change, sort, turn } = useListURL(search);
  const [creating, setCreating] = useState(false);
  const { data, error, isPending, refetch } = useQuery({
    ...experimentsQuery(search),
    placeholderData: keepPreviousData,
  });
  const columns = useColumns();

  const createButton = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setCreating(true)}>
      {t('experiments.create')}
    </Button>
  );

  return (
    <Page title={t('experiments.title')} actions={createButton}>
      <FilterBar q={search.q} onFilter={(q) => change({ q }, true)} />
      {error && (
        <Failure
          title={t('failure.title', { what: t('await.experiments') })}
          error={error}
          onRetry={() => void refetch()}
        />
      )}
      {isPending && <Awaiting what={t('await.experiments')} />}
      {data && data.items.length > 0 && (
        <Stack gap="sm">
          <DataTable
            caption={t('list.caption', { what: t('experiments.title'), count: data.items.length })}
            columns={columns}
            rows={data.items}
            rowID={(experiment) => experiment.id}
            sorting={{ sort: search.sort ?? newestFirst.sort, dir: search.dir ?? newestFirst.dir }}
            onSort={sort}
          />
          <Pager search={search} shown={data.items.length} total={data.total} next={data.next} turn={turn} />
        </Stack>
      )}
      {data?.items.length === 0 &&
        (search.q || search.token ? (
          <NoMatch onClear={() => change({ q: undefined })} />
        ) : (
          <Empty
            icon={<IconFlask2 aria-hidden />}
            title={t('experiments.emptyTitle')}
            text={t('experiments.emptyText')}
          >
            {createButton}
          </Empty>
        ))}
      {creating && <CreateExperiment onClose={() => setCreating(false)} />}
    </Page>
  );
}

function useColumns(): Column<Experiment>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('field.name'),
        enableSorting: true,
        cell: ({ row }) => (
          <TextLink
            to="/experiments/$experimentId"
            params={{ experimentId: row.original.id }}
            fw={550}
            className="break"
          >
            {row.original.name}
          </TextLink>
        ),
      },
      {
        id: 'description',
        header: t('field.description'),
        enableSorting: true,
        cell: ({ row }) => (
          <Text size="sm" c="dimmed" lineClamp={2} maw={520}>
            {row.original.description || t('field.none')}
          </Text>
        ),
      },
      {
        id: 'last',
        header: t('experiments.lastRuns'),
        cell: ({ row }) => <LastRuns experimentID={row.original.id} />,
      },
      {
        id: 'created_at',
        header: t('field.created'),
        enableSorting: true,
        meta: { width: 220 },
        cell: ({ row }) => <Time at={row.original.created_at} />,
      },
      {
        id: 'actions',
        header: t('pipelines.actions'),
        meta: { align: 'right', width: 150 },
        cell: ({ row }) => (
          <Group justify="flex-end">
            <ButtonLink to="/runs/new" search={{ experiment: row.original.id }} size="compact-sm" variant="light">
              {t('runs.createRun')}
            </ButtonLink>
          </Group>
        ),
      },
    ],
    [t],
  );
}
