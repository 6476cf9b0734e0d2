import { Button } from '@mantine/core';
import { IconPlayerStop, IconReload, IconRepeat } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { ButtonLink } from '../app/links';
import { useActs } from '../palette/acts';
import { isFinal } from '../status/status';
import { type Asking, RunDialogs } from './RunDialogs';

interface RunActionsProps {
  run: Run;
  onRetried: () => void;
}

/** What can be done with a run: go on where it failed, start it again with other values, or stop it. The palette offers more. */
export function RunActions({ run, onRetried }: RunActionsProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<Asking>();
  const canRetry = isFinal(run.status) && run.status !== 'Succeeded';
  const canClone = Boolean(run.pipeline?.id);
  const canStop = !isFinal(run.status) && run.status !== 'Terminating';
  const clone = { to: '/runs/new', search: { clone: run.id } } as const;
  const offers = [
    canStop && { key: 'terminate', label: t('run.terminate'), act: () => setAsking('terminate') },
    canRetry && { key: 'retry', label: t('retry.retry'), act: () => setAsking('retry') },
    canClone && { key: 'clone', label: t('run.runAgain'), act: () => void navigate(clone) },
    run.archived
      ? { key: 'unarchive', label: t('bulk.unarchive'), act: () => setAsking('unarchive') }
      : { key: 'archive', label: t('bulk.archive'), act: () => setAsking('archive') },
    {
      key: 'compare',
      label: t('bulk.compare'),
      act: () => void navigate({ to: '/compare', search: { runs: [run.id] } }),
    },
  ];
  useActs(offers.flatMap((offer) => (offer ? [{ ...offer, to: run.name }] : [])));
  return (
    <>
      {canRetry && (
        <Button variant="default" leftSection={<IconReload size={16} aria-hidden />} onClick={() => setAsking('retry')}>
          {t('retry.retry')}
        </Button>
      )}
      {canClone && (
        <ButtonLink {...clone} variant="default" leftSection={<IconRepeat size={16} aria-hidden />}>
          {t('run.runAgain')}
        </ButtonLink>
      )}
      {!isFinal(run.status) && (
        <Button
          variant="default"
          c="var(--ar-bad)"
          disabled={!canStop}
          leftSection={<IconPlayerStop size={16} aria-hidden />}
          onClick={() => setAsking('terminate')}
        >
          {t('run.terminate')}
        </Button>
      )}
      <RunDialogs run={run} asking={asking} onClose={() => setAsking(undefined)} onRetried={onRetried} />
    </>
  );
}
