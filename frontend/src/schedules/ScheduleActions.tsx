import { ActionIcon, Button, Menu } from '@mantine/core';
import { IconDots, IconEdit, IconPlayerPause, IconPlayerPlay, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createLink, useNavigate } from '@tanstack/react-router';
import { type AnchorHTMLAttributes, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { deleteSchedule, enableSchedule, type Job, runNow } from '../api/schedules';
import { announce } from '../app/announce';
import { ButtonLink } from '../app/links';
import { Confirm } from '../feedback/Confirm';
import { Failure } from '../feedback/Failure';
import { suggestName } from '../newrun/parameters';

const MenuLink = createLink((props: AnchorHTMLAttributes<HTMLAnchorElement>) => (
  <Menu.Item component="a" leftSection={<IconEdit size={16} aria-hidden />} {...props} />
));

/** Pauses a schedule, or lets it go on. */
export function PauseButton({ job, compact = false }: { job: Job; compact?: boolean }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const enabled = Boolean(job.enabled);
  const toggle = useMutation({
    mutationFn: () => enableSchedule(job.id, !enabled),
    onSuccess: async () => {
      announce(t(enabled ? 'schedules.pausedNow' : 'schedules.enabledNow', { name: job.name }));
      await invalidate(client);
    },
  });
  const Icon = enabled ? IconPlayerPause : IconPlayerPlay;
  const word = enabled ? t('schedules.pause') : t('schedules.enable');
  return (
    <>
      <Button
        size={compact ? 'compact-sm' : 'sm'}
        variant={compact ? 'light' : 'default'}
        loading={toggle.isPending}
        leftSection={<Icon size={16} aria-hidden />}
        aria-label={`${word}: ${job.name}`}
        onClick={() => toggle.mutate()}
      >
        {word}
      </Button>
      {toggle.isError && <Failure title={word} error={toggle.error} />}
    </>
  );
}

/** Starts a run of a schedule's at once; one whose parameters hold times that the schedule fills in opens in the form. */
export function RunNowButton({ job }: { job: Job }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () => runNow(job, suggestName(job.name, new Date())),
    onSuccess: (runId) => navigate({ to: '/runs/$runId', params: { runId } }),
  });
  const icon = <IconPlayerPlay size={16} aria-hidden />;
  if (job.pipeline_spec?.parameters?.some(({ value }) => value?.includes('[['))) {
    return (
      <ButtonLink to="/runs/new" search={{ schedule: job.id }} leftSection={icon} title={t('schedules.fillIn')}>
        {t('schedules.runNow')}
      </ButtonLink>
    );
  }
  return (
    <>
      <Button leftSection={icon} loading={start.isPending} onClick={() => start.mutate()}>
        {t('schedules.runNow')}
      </Button>
      {start.isError && <Failure title={t('newRun.refused')} error={start.error} />}
    </>
  );
}

/** What is done with a schedule less often: change it, make another like it, delete it. */
export function ScheduleMenu({ job, onDeleted }: { job: Job; onDeleted?: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const remove = useMutation({
    mutationFn: () => deleteSchedule(job.id),
    onSuccess: async () => {
      announce(t('schedules.deleted', { name: job.name }));
      setAsking(false);
      onDeleted?.();
      await invalidate(client);
    },
  });
  const version = job.resource_references?.some(({ key }) => key?.type === 'PIPELINE_VERSION');
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`${t('pipelines.actions')}: ${job.name}`}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {version && (
            <>
              <MenuLink to="/runs/new" search={{ schedule: job.id, recurring: true, replace: true }}>
                {t('schedules.edit')}
              </MenuLink>
              <MenuLink to="/runs/new" search={{ schedule: job.id, recurring: true }}>
                {t('schedules.copy')}
              </MenuLink>
            </>
          )}
          <Menu.Item leftSection={<IconRefresh size={16} aria-hidden />} onClick={() => void invalidate(client)}>
            {t('action.refresh')}
          </Menu.Item>
          <Menu.Item
            c="var(--ar-bad)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setAsking(true)}
          >
            {t('action.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asking && (
        <Confirm
          title={t('schedules.deleteTitle')}
          text={t('schedules.deleteText', { name: job.name })}
          action={t('action.delete')}
          busy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

function invalidate(client: ReturnType<typeof useQueryClient>) {
  return Promise.all([
    client.invalidateQueries({ queryKey: ['schedules'] }),
    client.invalidateQueries({ queryKey: ['schedule'] }),
  ]);
}
