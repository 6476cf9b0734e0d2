import { Alert, Button, CloseButton, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { editLabels, isLabelName, isLabelValue, type LabelEdits } from '../api/labels';
import { pinnedRunsQuery } from '../api/runs';
import { announce } from '../app/announce';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';

interface LabelsDialogProps {
  runs: Pick<Run, 'id' | 'name'>[];
  onClose: () => void;
}

/** Adds labels to one run or to several, and takes them away. */
export default function LabelsDialog({ runs, onClose }: LabelsDialogProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const [edits, setEdits] = useState<LabelEdits>({});
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const known = useQuery(pinnedRunsQuery(runs.map(({ id }) => id)));
  const badName = name !== '' && !isLabelName(name);
  const badValue = !isLabelValue(value);
  const typed: LabelEdits = name && !badName && !badValue ? { ...edits, [name]: value } : edits;
  const save = useMutation({
    mutationFn: () => editLabels(runs, typed),
    onSuccess: async (failed) => {
      await Promise.all(
        [['runs'], ['run-fields'], ...runs.map(({ id }) => ['run', id])].map((queryKey) =>
          client.invalidateQueries({ queryKey }),
        ),
      );
      if (failed.length > 0) return;
      announce(t('labels.saved', { count: runs.length }));
      onClose();
    },
  });
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (!name || badName || badValue) return;
    setEdits(typed);
    setName('');
    setValue('');
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('labels.title', { count: runs.length, name: runs[0]?.name })}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <Stack>
        {known.isPending && <Awaiting what={t('labels.await')} rows={2} />}
        {known.error && (
          <Failure
            title={t('failure.title', { what: t('labels.await') })}
            error={known.error}
            onRetry={() => void known.refetch()}
          />
        )}
        {known.data && (
          <Kept runs={known.data} edits={edits} onRemove={(gone) => setEdits({ ...edits, [gone]: null })} />
        )}
        <form onSubmit={add}>
          <Group gap="xs" align="flex-start" wrap="wrap">
            <TextInput
              label={t('labels.name')}
              value={name}
              error={badName && t('labels.bad')}
              onChange={(event) => setName(event.currentTarget.value.trim())}
              data-autofocus
              flex={1}
              miw={140}
            />
            <TextInput
              label={t('field.value')}
              value={value}
              error={badValue && t('labels.bad')}
              onChange={(event) => setValue(event.currentTarget.value.trim())}
              flex={1}
              miw={140}
            />
            <Button type="submit" variant="default" mt={24} disabled={!name || badName || badValue}>
              {t('labels.add')}
            </Button>
          </Group>
        </form>
        <Text size="xs" c="dimmed">
          {t('labels.rules')}
        </Text>
        {save.data && save.data.length > 0 && (
          <Alert color="red" title={t('labels.failed')}>
            {save.data.map((run) => (
              <div key={run.name} className="break">
                <b>{run.name}</b>: {run.message}
              </div>
            ))}
          </Alert>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button
            disabled={Object.keys(typed).length === 0 || badName || badValue}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {t('labels.save')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

interface KeptProps {
  runs: Run[];
  edits: LabelEdits;
  onRemove: (name: string) => void;
}

/** The labels that the runs have after the changes, and how many have each. */
function Kept({ runs, edits, onRemove }: KeptProps) {
  const { t } = useTranslation();
  const names = [...new Set([...runs.flatMap(({ labels }) => Object.keys(labels ?? {})), ...Object.keys(edits)])]
    .filter((name) => edits[name] !== null)
    .sort();
  if (names.length === 0) return <Text size="sm">{t('labels.none')}</Text>;
  return (
    <Stack component="ul" gap={4} m={0} p={0} fz="sm" style={{ listStyle: 'none' }} aria-label={t('field.labels')}>
      {names.map((name) => {
        const edited = edits[name];
        const having = runs.filter(({ labels }) => labels?.[name] !== undefined);
        const values = new Set(having.map(({ labels }) => labels?.[name]));
        const value = edited ?? (values.size > 1 ? t('labels.various') : [...values][0]);
        const count = edited === undefined ? having.length : runs.length;
        return (
          <Group key={name} component="li" justify="space-between" gap="xs" wrap="nowrap">
            <span className="break">
              <b>{name}</b>={value}
              {runs.length > 1 && (
                <Text span size="xs" c="dimmed" ml={8}>
                  {t('labels.onRuns', { shown: count, total: runs.length })}
                </Text>
              )}
            </span>
            <CloseButton size="sm" aria-label={t('labels.remove', { name })} onClick={() => onRemove(name)} />
          </Group>
        );
      })}
    </Stack>
  );
}
