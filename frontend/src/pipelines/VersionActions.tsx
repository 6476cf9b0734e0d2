import { ActionIcon, Menu } from '@mantine/core';
import { IconDots, IconGitCompare, IconStar, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Pipeline, PipelineVersion } from '../api/client';
import { deleteVersion, setDefaultVersion } from '../api/pipelines';
import { announce } from '../app/announce';
import { Confirm } from '../feedback/Confirm';
import { Failure } from '../feedback/Failure';

interface VersionActionsProps {
  pipeline: Pipeline;
  version: PipelineVersion;
  /** All versions of the pipeline, the newest first. */
  versions: PipelineVersion[];
  onDeleted: (id: string) => void;
}

/** What else can be done with a version: it becomes the default, is compared with it, or is deleted, having asked. */
export function VersionActions({ pipeline, version, versions, onDeleted }: VersionActionsProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [deleting, setDeleting] = useState(false);
  const defaultID = pipeline.default_version?.id;
  const readAnew = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['pipeline', pipeline.id] }),
      client.invalidateQueries({ queryKey: ['pipelines'] }),
    ]);
  const promote = useMutation({
    mutationFn: () => setDefaultVersion(pipeline.id, version.id),
    onSuccess: async () => {
      announce(t('pipeline.isDefault', { name: version.name }));
      await readAnew();
    },
  });
  const remove = useMutation({
    mutationFn: () => deleteVersion(version.id),
    onSuccess: async () => {
      announce(t('pipeline.versionDeleted', { name: version.name }));
      setDeleting(false);
      onDeleted(version.id);
      await readAnew();
    },
  });
  const next = versions.find(({ id }) => id !== version.id);
  const text = [t('pipeline.deleteText', { name: version.name })];
  if (!next) text.push(t('pipeline.deleteOnly'));
  else if (version.id === defaultID) text.push(t('pipeline.deleteDefault', { next: next.name }));
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={`${t('pipelines.actions')}: ${version.name}`}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {version.id !== defaultID && (
            <>
              <Menu.Item leftSection={<IconStar size={16} aria-hidden />} onClick={() => promote.mutate()}>
                {t('pipeline.makeDefault')}
              </Menu.Item>
              {defaultID && (
                <Menu.Item
                  component={Link}
                  to="/diff"
                  search={{ from: version.id, to: defaultID } as never}
                  leftSection={<IconGitCompare size={16} aria-hidden />}
                >
                  {t('diff.withDefault')}
                </Menu.Item>
              )}
            </>
          )}
          <Menu.Item
            c="var(--ar-bad)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setDeleting(true)}
          >
            {t('action.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {promote.isError && <Failure title={t('pipeline.makeDefault')} error={promote.error} />}
      {deleting && (
        <Confirm
          title={t('pipeline.deleteVersion')}
          text={text.join(' ')}
          action={t('action.delete')}
          busy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => {
            setDeleting(false);
            remove.reset();
          }}
        />
      )}
    </>
  );
}
