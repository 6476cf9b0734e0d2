import { Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { IconCircleCheck, IconCircleMinus, IconCircleX } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type BulkAction, type BulkResult, bulk } from '../api/bulk';
import type { Run } from '../api/client';
import { announce } from '../app/announce';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import classes from './BulkBar.module.css';

interface BulkDialogProps {
  action: BulkAction;
  runs: Run[];
  /** Told whether it was done. */
  onClose: (done: boolean) => void;
}

/** Tells what an action would do to each run, asks, does it, and tells what became of each. */
export default function BulkDialog({ action, runs, onClose }: BulkDialogProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [artifacts, setArtifacts] = useState(false);
  const plan = useQuery({
    queryKey: ['bulk', action, runs.map(({ id }) => id), artifacts],
    queryFn: () => bulk(action, runs, { dryRun: true, artifacts }),
    staleTime: 0,
    gcTime: 0,
  });
  const carryOut = useMutation({
    mutationFn: () => bulk(action, doable(plan.data, runs), { dryRun: false, artifacts }),
    onSuccess: async (results) => {
      const failed = results.filter(({ outcome }) => outcome === 'failed').length;
      announce(t('bulk.did', { count: results.length - failed }));
      await client.invalidateQueries({ queryKey: ['runs'] });
      if (failed === 0) onClose(true);
    },
  });
  const count = doable(plan.data, runs).length;
  const word = t(`bulk.${action}`);
  return (
    <Modal
      opened
      size="lg"
      onClose={() => onClose(carryOut.isSuccess)}
      title={t(`bulk.${action}Title`)}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <Stack>
        <Text size="sm">{t(`bulk.${action}Text`)}</Text>
        {action === 'delete' && (
          <Checkbox
            label={t('bulk.artifacts')}
            description={t('bulk.artifactsHint')}
            checked={artifacts}
            disabled={carryOut.isSuccess}
            onChange={(event) => setArtifacts(event.currentTarget.checked)}
          />
        )}
        {plan.isPending && <Awaiting what={t('bulk.plan')} rows={2} />}
        {plan.error && <Failure title={t('bulk.planFailed')} error={plan.error} onRetry={() => void plan.refetch()} />}
        {plan.data && <Results results={carryOut.data ?? plan.data} done={carryOut.isSuccess} />}
        {carryOut.error && <Failure title={word} error={carryOut.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" data-autofocus onClick={() => onClose(carryOut.isSuccess)}>
            {carryOut.isSuccess ? t('action.close') : t('action.cancel')}
          </Button>
          {!carryOut.isSuccess && (
            <Button
              color={action === 'delete' || action === 'terminate' ? 'var(--ar-danger)' : undefined}
              disabled={count === 0}
              loading={carryOut.isPending}
              onClick={() => carryOut.mutate()}
            >
              {t('bulk.go', { action: word, count })}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}

/** The runs that the plan says something will happen to. */
function doable(plan: BulkResult[] | undefined, runs: Run[]): Run[] {
  const yes = new Set(plan?.filter(({ outcome }) => outcome === 'done').map(({ id }) => id));
  return runs.filter(({ id }) => yes.has(id));
}

const looks = {
  done: { icon: IconCircleCheck, colour: 'var(--ar-ok)' },
  unchanged: { icon: IconCircleMinus, colour: 'var(--ar-idle)' },
  failed: { icon: IconCircleX, colour: 'var(--ar-bad)' },
};

function Results({ results, done }: { results: BulkResult[]; done: boolean }) {
  const { t } = useTranslation();
  return (
    <ul className={classes.results} aria-label={t('bulk.results')}>
      {results.map(({ id, name, outcome, message }) => {
        const { icon: Icon, colour } = looks[outcome];
        const word = done ? t(`bulk.was.${outcome}`) : t(`bulk.would.${outcome}`);
        return (
          <li key={id}>
            <Icon size={18} color={colour} aria-hidden />
            <span className="break">
              <b>{name}</b>: {message || word}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
