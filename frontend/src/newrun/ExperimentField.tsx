import { Button, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { experimentQuery, experimentsQuery } from '../api/experiments';
import { Failure } from '../feedback/Failure';

/** An experiment that exists, by id, or the name of one to be made. */
export type ExperimentValue = { id: string; newName?: undefined } | { id?: undefined; newName: string };

// The server makes this one by itself; runs that belong nowhere else go there.
const defaultName = 'Default';

/** What to choose before the reader does: what the URL or the cloned run names, else the server's default. */
export function useExperimentDefault(id: string | undefined): { value?: ExperimentValue; awaited: boolean } {
  const { data, isLoading } = useQuery({ ...experimentsQuery({ q: defaultName, size: 50 }), enabled: !id });
  if (id) return { value: { id }, awaited: false };
  const found = data?.items.find(({ name }) => name === defaultName);
  return { value: found && { id: found.id }, awaited: isLoading };
}

interface ExperimentFieldProps {
  value: ExperimentValue | undefined;
  error: string | undefined;
  onChange: (value: ExperimentValue | undefined) => void;
}

/** Chooses an experiment, or takes the name of a new one. */
export function ExperimentField({ value, error, onChange }: ExperimentFieldProps) {
  const { t } = useTranslation();
  if (value?.newName !== undefined) {
    return (
      <div>
        <TextInput
          label={t('newRun.experimentName')}
          description={t('newRun.experimentHint')}
          required
          autoFocus
          value={value.newName}
          error={error}
          onChange={(event) => onChange({ newName: event.currentTarget.value })}
        />
        <Button variant="transparent" size="compact-sm" px={0} mt={4} onClick={() => onChange(undefined)}>
          {t('newRun.existingExperiment')}
        </Button>
      </div>
    );
  }
  return <ExistingExperiment id={value?.id} error={error} onChange={onChange} />;
}

const newOption = '+new';

interface ExistingExperimentProps {
  id: string | undefined;
  error: string | undefined;
  onChange: (value: ExperimentValue | undefined) => void;
}

function ExistingExperiment({ id, error, onChange }: ExistingExperimentProps) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [sought] = useDebouncedValue(text, 250);
  const chosen = useQuery({ ...experimentQuery(id ?? ''), enabled: Boolean(id) });
  const q = sought && sought !== chosen.data?.name && sought !== t('newRun.newExperiment') ? sought : undefined;
  const list = useQuery({ ...experimentsQuery({ q, size: 50 }), placeholderData: keepPreviousData });

  const options = new Map(list.data?.items.map((experiment) => [experiment.id, experiment.name]));
  if (chosen.data) options.set(chosen.data.id, chosen.data.name);
  const failure = list.error ?? chosen.error;

  return (
    <>
      <Select
        label={t('field.experiment')}
        description={t('newRun.experimentHint')}
        required
        searchable
        value={id ?? null}
        error={error}
        data={[
          ...[...options].map(([value, label]) => ({ value, label })),
          { value: newOption, label: t('newRun.newExperiment') },
        ]}
        // The way to a new experiment stays in the list whatever is sought.
        filter={({ options: all, search }) =>
          all.filter(
            (option) =>
              'value' in option &&
              (option.value === newOption || option.label.toLowerCase().includes(search.trim().toLowerCase())),
          )
        }
        onSearchChange={setText}
        onChange={(value) => {
          if (value === newOption) onChange({ newName: '' });
          else onChange(value ? { id: value } : undefined);
        }}
      />
      {failure && (
        <Failure
          title={t('failure.title', { what: t('await.experiments') })}
          error={failure}
          onRetry={() => void Promise.all([list.refetch(), id ? chosen.refetch() : undefined])}
        />
      )}
    </>
  );
}
