import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { terminateRun } from '../api/runs';
import { announce } from '../app/announce';
import { Confirm } from '../feedback/Confirm';
import { RetryDialog } from './RetryDialog';

const BulkDialog = lazy(() => import('./BulkDialog'));

/** What is asked about a run before it is done. */
export type Asking = 'retry' | 'terminate' | 'archive' | 'unarchive';

interface RunDialogsProps {
  run: Run;
  asking: Asking | undefined;
  onClose: () => void;
  onRetried: () => void;
}

/** Asks before something is done with a run. */
export function RunDialogs({ run, asking, onClose, onRetried }: RunDialogsProps) {
  const client = useQueryClient();
  if (asking === 'retry') return <RetryDialog run={run} onClose={onClose} onRetried={onRetried} />;
  if (asking === 'terminate') return <Terminate run={run} onClose={onClose} />;
  if (!asking) return null;
  return (
    <Suspense>
      <BulkDialog
        action={asking}
        runs={[run]}
        onClose={(done) => {
          onClose();
          if (done) void client.invalidateQueries({ queryKey: ['run', run.id] });
        }}
      />
    </Suspense>
  );
}

function Terminate({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const terminate = useMutation({
    mutationFn: () => terminateRun(run.id),
    onSuccess: async () => {
      onClose();
      announce(t('run.terminated'));
      await client.invalidateQueries({ queryKey: ['run', run.id] });
    },
  });
  return (
    <Confirm
      title={t('run.terminateTitle')}
      text={t('run.terminateText', { name: run.name })}
      action={t('run.terminateConfirm')}
      busy={terminate.isPending}
      error={terminate.error}
      onConfirm={() => terminate.mutate()}
      onClose={onClose}
    />
  );
}
