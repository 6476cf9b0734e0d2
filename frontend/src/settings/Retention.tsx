import { Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Policy, type Pruned, prune } from '../api/settings';
import { announce } from '../app/announce';
import { TextLink } from '../app/links';
import { Confirm } from '../feedback/Confirm';
import { Failure } from '../feedback/Failure';
import { Ago } from '../format/Ago';
import { formatBytes } from '../format/format';

/** Removes what is old or too much, having shown what that is. */
export function Retention() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [policy, setPolicy] = useState<Policy>({});
  const [asking, setAsking] = useState(false);
  const plan = useMutation({ mutationFn: () => prune(policy, true) });
  const remove = useMutation({
    mutationFn: () => prune(policy, false),
    onSuccess: async () => {
      setAsking(false);
      plan.reset();
      announce(t('settings.removed'));
      await client.invalidateQueries({ queryKey: ['runs'] });
    },
  });
  const set = (patch: Policy) => {
    // What was shown is not what another policy would remove.
    plan.reset();
    setPolicy((old) => ({ ...old, ...patch }));
  };
  const runs = plan.data?.runs ?? [];
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {t('settings.retentionText')}
      </Text>
      <Group gap="sm" align="flex-end">
        <TextInput
          label={t('settings.keepRuns')}
          placeholder="90d,1000"
          value={policy.keep_runs ?? ''}
          onChange={(event) => set({ keep_runs: event.currentTarget.value || undefined })}
        />
        <TextInput
          label={t('settings.keepArtifacts')}
          placeholder="30d"
          value={policy.keep_artifacts ?? ''}
          onChange={(event) => set({ keep_artifacts: event.currentTarget.value || undefined })}
        />
        <TextInput
          label={t('settings.keepLogs')}
          placeholder="30d"
          value={policy.keep_logs ?? ''}
          onChange={(event) => set({ keep_logs: event.currentTarget.value || undefined })}
        />
        <Button variant="default" loading={plan.isPending} onClick={() => plan.mutate()}>
          {t('settings.dryRun')}
        </Button>
      </Group>
      {plan.error && <Failure title={t('settings.refused')} error={plan.error} />}
      {plan.data && <Plan plan={plan.data} />}
      {runs.length > 0 && (
        <Button color="var(--ar-danger)" style={{ alignSelf: 'flex-start' }} onClick={() => setAsking(true)}>
          {t('settings.remove')}
        </Button>
      )}
      {asking && (
        <Confirm
          title={t('settings.removeTitle')}
          text={t('settings.removeText', { policy: plan.data?.policy })}
          action={t('settings.remove')}
          busy={remove.isPending}
          error={remove.error}
          onConfirm={() => remove.mutate()}
          onClose={() => setAsking(false)}
        />
      )}
    </Stack>
  );
}

const shownRuns = 50;

function Plan({ plan }: { plan: Pruned }) {
  const { t, i18n } = useTranslation();
  const bytes = (size: string | undefined) => formatBytes(Number(size ?? 0), i18n.language);
  const runs = plan.runs ?? [];
  return (
    <>
      <Text size="sm" role="status">
        {t('settings.would', { policy: plan.policy, count: runs.length, size: bytes(plan.bytes) })}
      </Text>
      {runs.length > 0 && (
        <Table.ScrollContainer minWidth={560} maxHeight={360}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t('field.run')}</Table.Th>
                <Table.Th scope="col">{t('field.experiment')}</Table.Th>
                <Table.Th scope="col">{t('field.finished')}</Table.Th>
                <Table.Th scope="col">{t('settings.goes')}</Table.Th>
                <Table.Th scope="col">{t('settings.size')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {runs.slice(0, shownRuns).map((run) => (
                <Table.Tr key={run.run_id}>
                  <Table.Td>
                    <TextLink to="/runs/$runId" params={{ runId: run.run_id ?? '' }} className="name">
                      {run.name}
                    </TextLink>
                  </Table.Td>
                  <Table.Td>{run.experiment}</Table.Td>
                  <Table.Td>
                    <Ago at={run.finished_at} />
                  </Table.Td>
                  <Table.Td>
                    {run.kept ||
                      (run.run
                        ? t('settings.whole')
                        : t('settings.parts', { artifacts: run.artifacts?.length ?? 0, logs: run.logs?.length ?? 0 }))}
                  </Table.Td>
                  <Table.Td>{bytes(run.bytes)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {runs.length > shownRuns && <Text size="sm">{t('runs.moreValues', { count: runs.length - shownRuns })}</Text>}
    </>
  );
}
