import { Alert, Button, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { retryRun, versionParametersQuery } from '../api/runs';
import { announce } from '../app/announce';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { stepLabels } from '../graph/model';
import { parameterValues, problemOf } from '../newrun/parameters';
import { useParameterRules } from '../pipelines/useParameterRules';
import classes from './RunPage.module.css';

const ParameterFields = lazy(() =>
  import('../newrun/ParameterFields').then((module) => ({ default: module.ParameterFields })),
);

interface RetryDialogProps {
  run: Run;
  /** Where to go on from; what failed when absent. */
  step?: RunNode;
  /** Opens with the fields of the parameters. */
  changing?: boolean;
  onClose: () => void;
  onRetried: () => void;
}

/** Says what would run again, takes other parameters, and goes on with the run. */
export function RetryDialog({ run, step, changing = false, onClose, onRetried }: RetryDialogProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [values, setValues] = useState<Record<string, string>>({});
  const [open, setOpen] = useState(changing);
  const [settled] = useDebouncedValue(values, 400);
  const labels = useMemo(() => stepLabels((run.nodes ?? []) as RunNode[]), [run.nodes]);
  const given = run.parameters ?? [];
  const wish = (chosen: Record<string, string>) => ({
    runID: run.id,
    step: step?.id ?? '',
    parameters: given
      .map(({ name = '', value = '' }) => ({ name, value: chosen[name] ?? value, before: value }))
      .filter(({ value, before }) => value !== before)
      .map(({ name, value }) => ({ name, value })),
  });
  const plan = useQuery({
    // Not below the run's key: the run is read again after the retry, the plan is not.
    queryKey: ['retry', run.id, step?.id, settled],
    queryFn: () => retryRun(wish(settled), true),
    retry: false,
    gcTime: 0,
    placeholderData: (before) => before,
  });
  const retry = useMutation({
    mutationFn: () => retryRun(wish(values), false),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['run', run.id] });
      announce(t('retry.done'));
      onRetried();
      onClose();
    },
  });
  // The form reads defaults and types only when it shows the parameters.
  const { id: pipeline, version_id: version } = (open && run.pipeline) || {};
  const { data: defaults = [] } = useQuery({ ...versionParametersQuery(version ?? ''), enabled: Boolean(version) });
  const rules = useParameterRules(pipeline, version) ?? {};
  const known = new Map(defaults.map(({ name, value }) => [name, value]));
  const declared = given.map(({ name, value }) => ({ name, value: known.get(name) ?? value }));
  const parameters = parameterValues(declared, values, given);
  const wrong = parameters.some(({ name, value }) => problemOf(rules[name], value, t));
  const name = step ? (labels.get(step.id) ?? step.id) : '';
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={step ? t('retry.titleFrom', { step: name }) : t('retry.title')}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <Stack gap="md">
        {plan.error ? (
          <Failure title={t('retry.refused')} error={plan.error} onRetry={() => void plan.refetch()} />
        ) : !plan.data ? (
          <Awaiting what={t('await.retry')} rows={2} />
        ) : (
          <Plan again={plan.data.again.map((id) => labels.get(id) ?? id)} warnings={plan.data.warnings} />
        )}
        {given.length > 0 && (
          <details className={classes.change} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{t('retry.change')}</summary>
            {open && (
              <Suspense fallback={<Awaiting what={t('await.pipeline')} rows={given.length} />}>
                <ParameterFields
                  parameters={parameters}
                  before={{ name: run.name, parameters: given }}
                  rules={rules}
                  onChange={(changed, value) => setValues((old) => ({ ...old, [changed]: value }))}
                />
              </Suspense>
            )}
          </details>
        )}
        {retry.error && <Failure title={t('retry.refused')} error={retry.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button
            loading={retry.isPending}
            disabled={!plan.data || Boolean(plan.error) || wrong}
            onClick={() => retry.mutate()}
          >
            {step ? t('retry.goFrom') : t('retry.retry')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

// More names than this are a number.
const mostNames = 20;

function Plan({ again, warnings }: { again: string[]; warnings: string[] }) {
  const { t } = useTranslation();
  return (
    <>
      <div>
        <Text size="sm">{t('retry.again', { count: again.length })}</Text>
        <List size="sm" mt={4}>
          {again.slice(0, mostNames).map((name, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names may be alike
            <List.Item key={i} className={classes.wrap}>
              {name}
            </List.Item>
          ))}
        </List>
        {again.length > mostNames && (
          <Text size="sm" c="dimmed">
            {t('runs.moreValues', { count: again.length - mostNames })}
          </Text>
        )}
      </div>
      {warnings.length > 0 && (
        <Alert
          title={t('retry.warnings')}
          styles={{ root: { background: 'var(--ar-warn-bg)' }, title: { color: 'var(--ar-warn)' } }}
        >
          {warnings.map((warning) => (
            <Text key={warning} size="sm">
              {warning}
            </Text>
          ))}
        </Alert>
      )}
    </>
  );
}
