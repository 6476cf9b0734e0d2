import { Button } from '@mantine/core';
import { IconPlayerStop, IconReload, IconRepeat } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { terminateRun } from '../api/runs';
import { announce } from '../app/announce';
import { ButtonLink } from '../app/links';
import { Confirm } from '../feedback/Confirm';
import { isFinal } from '../status/status';
import { RetryDialog } from './RetryDialog';

/** What can be done with a run: go on where it failed, start it again with other values, or stop it. */
export function RunActions({ run, onRetried }: { run: Run; onRetried: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const [retrying, setRetrying] = useState(false);
  const terminate = useMutation({
    mutationFn: () => terminateRun(run.id),
    onSuccess: async () => {
      setAsking(false);
      announce(t('run.terminated'));
      await client.invalidateQueries({ queryKey: ['run', run.id] });
    },
  });
  return (
    <>
      {isFinal(run.status) && run.status !== 'Succeeded' && (
        <Button variant="default" leftSection={<IconReload size={16} aria-hidden />} onClick={() => setRetrying(true)}>
          {t('retry.retry')}
        </Button>
      )}
      {retrying && <RetryDialog run={run} onClose={() => setRetrying(false)} onRetried={onRetried} />}
      {run.pipeline?.id && (
        <ButtonLink
          to="/runs/new"
          search={{ clone: run.id }}
          variant="default"
          leftSection={<IconRepeat size={16} aria-hidden />}
        >
          {t('run.runAgain')}
        </ButtonLink>
      )}
      {!isFinal(run.status) && (
        <Button
          variant="default"
          c="var(--ar-bad)"
          disabled={run.status === 'Terminating'}
          leftSection={<IconPlayerStop size={16} aria-hidden />}
          onClick={() => setAsking(true)}
        >
          {t('run.terminate')}
        </Button>
      )}
      {asking && (
        <Confirm
          title={t('run.terminateTitle')}
          text={t('run.terminateText', { name: run.name })}
          action={t('run.terminateConfirm')}
          busy={terminate.isPending}
          error={terminate.error}
          onConfirm={() => terminate.mutate()}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
