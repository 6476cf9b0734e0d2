import { Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createExperiment } from '../api/experiments';
import { announce } from '../app/announce';
import { Failure } from '../feedback/Failure';

/** Asks for the name of an experiment and creates it. */
export function CreateExperiment({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [asked, setAsked] = useState(false);
  const create = useMutation({
    mutationFn: () => createExperiment(name.trim(), description.trim()),
    onSuccess: async (experiment) => {
      announce(t('experiments.created', { name: experiment.name }));
      await client.invalidateQueries({ queryKey: ['experiments'] });
      onClose();
      await navigate({ to: '/experiments/$experimentId', params: { experimentId: experiment.id } });
    },
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked(true);
    if (name.trim()) create.mutate();
  };

  return (
    <Modal
      opened
      onClose={onClose}
      title={t('experiments.create')}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label={t('field.name')}
            required
            data-autofocus
            value={name}
            error={asked && !name.trim() && t('experiments.nameNeeded')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Textarea
            label={t('field.description')}
            autosize
            minRows={2}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
          {create.isError && <Failure title={t('experiments.refused')} error={create.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={create.isPending}>
              {t('action.create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
