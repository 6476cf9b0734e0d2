import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { workflowQuery } from '../api/runs';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { isFinal } from '../status/status';
import { LazyYAMLView } from '../yaml/LazyYAMLView';

// The whole object is big; it is read again at leisure while the run goes on.
const refresh = 5_000;

/** The run's Workflow as it is in the cluster, spec and status. */
export function WorkflowYAML({ run }: { run: Run }) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery({
    ...workflowQuery(run.id),
    refetchInterval: isFinal(run.status) ? false : refresh,
  });
  const what = t('await.workflow');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Awaiting what={what} />;
  if (!data) {
    return (
      <Text c="dimmed" p="lg">
        {t('run.noWorkflow')}
      </Text>
    );
  }
  return <LazyYAMLView text={data} file={`${run.workflow?.name ?? run.id}.yaml`} />;
}
