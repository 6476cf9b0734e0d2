import { Button } from '@mantine/core';
import { IconPlayerStop, IconRepeat } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { terminateRun } from '../api/runs';
import { announce } from '../app/announce';
import { ButtonLink } from '../app/links';
import { Confirm } from '../feedback/Confirm';
import { isFinal } from '../status/status';

/** What can be done with a run: start it again with other values, or stop it. */
export function RunActions({ run }: { run: Run }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
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
