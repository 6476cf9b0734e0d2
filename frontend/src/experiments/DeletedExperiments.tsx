import { Button, Stack, Text } from '@mantine/core';
import { IconTrash, IconTrashOff } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { type DeletedExperiment, deletedExperimentsQuery, restoreExperiment } from '../api/experiments';
import { announce } from '../app/announce';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { Ago } from '../format/Ago';
import { type Column, DataTable } from '../table/DataTable';
import { NoMatch } from '../table/NoMatch';

interface DeletedExperimentsProps {
  /** Part of a name. */
  q: string | undefined;
  onClear: () => void;
}

/** Experiments that were deleted, the last one first, each with a way back. */
export function DeletedExperiments({ q = '', onClear }: DeletedExperimentsProps) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(deletedExperimentsQuery);
  const columns = useColumns();
  const shown = data?.items.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase())) ?? [];
  const what = t('await.experiments');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Awaiting what={what} />;
  if (data.items.length === 0) {
    return (
      <Empty
        icon={<IconTrash aria-hidden />}
        title={t('experiments.emptyDeleted')}
        text={t('experiments.emptyDeletedText')}
      />
    );
  }
  if (shown.length === 0) return <NoMatch onClear={onClear} />;
  return (
    <Stack gap="sm">
      <DataTable
        caption={t('list.caption', { what: t('experiments.deletedOnes'), count: shown.length })}
        columns={columns}
        rows={shown}
        rowID={({ id }) => id}
      />
      {data.total > data.items.length && (
        <Text size="xs" c="dimmed">
          {t('experiments.deletedLast', { shown: data.items.length, total: data.total })}
        </Text>
      )}
    </Stack>
  );
}

function useColumns(): Column<DeletedExperiment>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      { id: 'name', header: t('field.name'), cell: (row) => row.name },
      {
        id: 'description',
        header: t('field.description'),
        cell: (row) => (
          <Text size="sm" c="dimmed" lineClamp={2} maw={520}>
            {row.description || t('field.none')}
          </Text>
        ),
      },
      {
        id: 'runs',
        header: t('pages.runs'),
        align: 'right',
        width: 90,
        cell: (row) => row.runs ?? 0,
      },
      {
        id: 'deleted_at',
        header: t('experiments.deletedAt'),
        width: 130,
        cell: (row) => <Ago at={row.deleted_at} />,
      },
      {
        id: 'actions',
        header: t('pipelines.actions'),
        align: 'right',
        width: 170,
        cell: (row) => <RestoreDeleted experiment={row} />,
      },
    ],
    [t],
  );
}

/** Brings a deleted experiment back. */
export function RestoreDeleted({ experiment: { id, name } }: { experiment: Pick<DeletedExperiment, 'id' | 'name'> }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const restore = useMutation({
    mutationFn: () => restoreExperiment(id),
    onSuccess: () => {
      announce(t('experiments.broughtBack', { name }));
      return Promise.all([
        client.invalidateQueries({ queryKey: ['experiments'] }),
        client.invalidateQueries({ queryKey: ['experiment', id] }),
      ]);
    },
  });
  return (
    <>
      <Button
        size="compact-sm"
        variant="light"
        loading={restore.isPending}
        leftSection={<IconTrashOff size={16} aria-hidden />}
        aria-label={`${t('bulk.unarchive')}: ${name}`}
        onClick={() => restore.mutate()}
      >
        {t('bulk.unarchive')}
      </Button>
      {restore.isError && <Failure title={t('bulk.unarchive')} error={restore.error} />}
    </>
  );
}
