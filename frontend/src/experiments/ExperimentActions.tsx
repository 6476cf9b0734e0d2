import { ActionIcon, Button, Menu } from '@mantine/core';
import { IconArchive, IconArchiveOff, IconDots, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Experiment } from '../api/client';
import { archiveExperiment, deleteExperiment, unarchiveExperiment } from '../api/experiments';
import { announce } from '../app/announce';
import { Confirm } from '../feedback/Confirm';
import { Failure } from '../feedback/Failure';
import { RestoreDeleted } from './DeletedExperiments';

export const isArchived = (experiment: Experiment) => experiment.storage_state === 'STORAGESTATE_ARCHIVED';

/** Takes an experiment out of the archive. */
export function RestoreExperiment({ experiment }: { experiment: Experiment }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const restore = useMutation({
    mutationFn: () => unarchiveExperiment(experiment.id),
    onSuccess: () => {
      announce(t('experiments.restored', { name: experiment.name }));
      return Promise.all([
        client.invalidateQueries({ queryKey: ['experiments'] }),
        client.invalidateQueries({ queryKey: ['experiment', experiment.id] }),
      ]);
    },
  });
  return (
    <>
      <Button
        size="compact-sm"
        variant="light"
        loading={restore.isPending}
        leftSection={<IconArchiveOff size={16} aria-hidden />}
        aria-label={`${t('bulk.unarchive')}: ${experiment.name}`}
        onClick={() => restore.mutate()}
      >
        {t('bulk.unarchive')}
      </Button>
      {restore.isError && <Failure title={t('bulk.unarchive')} error={restore.error} />}
    </>
  );
}

/** Archives or deletes an experiment, having asked; or brings it back. */
export function ExperimentMenu({ experiment, deleted }: { experiment: Experiment; deleted: boolean }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<'archive' | 'delete'>();
  const carryOut = useMutation({
    mutationFn: () => (asking === 'archive' ? archiveExperiment(experiment.id) : deleteExperiment(experiment.id)),
    onSuccess: async () => {
      announce(t(asking === 'archive' ? 'experiments.archived' : 'experiments.deleted', { name: experiment.name }));
      await client.invalidateQueries({ queryKey: ['experiments'] });
      await navigate({ to: '/experiments' });
    },
  });
  if (deleted) return <RestoreDeleted experiment={experiment} />;
  if (isArchived(experiment)) return <RestoreExperiment experiment={experiment} />;
  const deleting = asking === 'delete';
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size="lg" aria-label={`${t('pipelines.actions')}: ${experiment.name}`}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconArchive size={16} aria-hidden />} onClick={() => setAsking('archive')}>
            {t('bulk.archive')}
          </Menu.Item>
          <Menu.Item
            c="var(--ar-bad)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setAsking('delete')}
          >
            {t('action.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asking && (
        <Confirm
          title={t(deleting ? 'experiments.deleteTitle' : 'experiments.archiveTitle')}
          text={t(deleting ? 'experiments.deleteText' : 'experiments.archiveText', { name: experiment.name })}
          action={t(deleting ? 'action.delete' : 'bulk.archive')}
          busy={carryOut.isPending}
          error={carryOut.error}
          onConfirm={() => carryOut.mutate()}
          onClose={() => {
            setAsking(undefined);
            carryOut.reset();
          }}
        />
      )}
    </>
  );
}
