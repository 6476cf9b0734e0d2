import { Button, Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { createExperiment } from '../api/experiments';
import { pipelineQuery, versionsQuery } from '../api/pipelines';
import { createRun } from '../api/runs';
import { Failure } from '../feedback/Failure';
import { useParameterHints } from '../pipelines/useParameterHints';
import { ExperimentField, type ExperimentValue, useExperimentDefault } from './ExperimentField';
import classes from './NewRun.module.css';
import type { NewRunSearch } from './newRunSearch';
import { ParameterFields } from './ParameterFields';
import { PipelineField } from './PipelineField';
import { parameterValues, suggestName } from './parameters';

/** The form that starts a run; choices that others may want to share stand in the URL. */
export function NewRunForm({ search, cloned }: { search: NewRunSearch; cloned: Run | undefined }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const pipelineID = search.pipeline ?? cloned?.pipeline?.id;
  const pipeline = useQuery({ ...pipelineQuery(pipelineID ?? ''), enabled: Boolean(pipelineID) });
  const versions = useQuery({ ...versionsQuery(pipelineID ?? ''), enabled: Boolean(pipelineID) });

  const [begun] = useState(() => new Date());
  const [typedName, setName] = useState<string>();
  const [description, setDescription] = useState(cloned?.description ?? '');
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [chosen, setExperiment] = useState<ExperimentValue>();
  const [asked, setAsked] = useState(false);
  const fallback = useExperimentDefault(search.experiment ?? cloned?.experiment?.id);

  const defaultVersion = pipeline.data?.default_version?.id;
  const versionID = search.version ?? (search.pipeline ? undefined : cloned?.pipeline?.version_id) ?? defaultVersion;
  const version = versions.data?.items.find(({ id }) => id === versionID);
  const parameters = parameterValues(
    version?.parameters ?? pipeline.data?.parameters ?? [],
    typed,
    cloned?.parameters ?? [],
  );
  const hints = useParameterHints(pipelineID, versionID);
  const suggested = cloned
    ? t('newRun.cloneOf', { name: cloned.name })
    : pipeline.data && suggestName(pipeline.data.name, begun);
  const name = typedName ?? suggested ?? '';
  const experiment = chosen ?? fallback;

  const problems = {
    pipeline: versionID ? undefined : t('newRun.pipelineNeeded'),
    name: name.trim() ? undefined : t('newRun.nameNeeded'),
    experiment: experimentProblem(experiment, t('newRun.experimentNeeded'), t('newRun.experimentNameNeeded')),
  };
  const complete = Object.values(problems).every((problem) => problem === undefined);

  const start = useMutation({
    mutationFn: async () => {
      const experimentID = experiment?.id ?? (await makeExperiment(experiment?.newName ?? ''));
      return createRun({
        name: name.trim(),
        description: description.trim(),
        versionID: versionID as string,
        experimentID,
        parameters: parameters.map((parameter) => ({ name: parameter.name, value: parameter.value })),
      });
    },
    onSuccess: async (runId) => {
      void client.invalidateQueries({ queryKey: ['runs'] });
      await navigate({ to: '/runs/$runId', params: { runId } });
    },
  });

  // If the run is then refused, the experiment is there already: it stays chosen, and is not made twice.
  const makeExperiment = async (newName: string) => {
    const { id } = await createExperiment(newName.trim(), '');
    await client.invalidateQueries({ queryKey: ['experiments'] });
    setExperiment({ id });
    return id;
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked(true);
    if (complete) start.mutate();
  };
  const choose = (patch: NewRunSearch) =>
    void navigate({ to: '/runs/new', search: { ...search, ...patch }, replace: true });

  return (
    <form onSubmit={submit} noValidate className={classes.form}>
      <Section title={t('newRun.what')}>
        <PipelineField
          pipeline={
            pipeline.data ??
            (pipelineID && cloned?.pipeline ? { id: pipelineID, name: cloned.pipeline.name ?? '' } : undefined)
          }
          versions={versions.data?.items ?? []}
          versionID={versionID}
          defaultVersionID={defaultVersion}
          error={asked ? problems.pipeline : undefined}
          onPipeline={(id) => choose({ pipeline: id, version: undefined })}
          onVersion={(id) => choose({ pipeline: pipelineID, version: id })}
        />
        {(pipeline.error ?? versions.error) && (
          <Failure
            title={t('failure.title', { what: t('await.pipeline') })}
            error={pipeline.error ?? versions.error}
            onRetry={() => void Promise.all([pipeline.refetch(), versions.refetch()])}
          />
        )}
      </Section>
      <Section title={t('newRun.how')}>
        <TextInput
          label={t('newRun.runName')}
          required
          value={name}
          error={asked && problems.name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Textarea
          label={`${t('field.description')} (${t('field.optional')})`}
          autosize
          minRows={1}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        <ExperimentField value={experiment} error={asked ? problems.experiment : undefined} onChange={setExperiment} />
      </Section>
      <Section title={t('newRun.parameters')}>
        {versionID ? (
          <ParameterFields
            parameters={parameters}
            hints={hints}
            onChange={(parameter, value) => setTyped((old) => ({ ...old, [parameter]: value }))}
          />
        ) : (
          <Text size="sm" c="dimmed">
            {t('newRun.choosePipelineFirst')}
          </Text>
        )}
      </Section>
      {start.isError && <Failure title={t('newRun.refused')} error={start.error} />}
      <Group gap="sm">
        <Button type="submit" loading={start.isPending} leftSection={<IconPlayerPlay size={16} aria-hidden />}>
          {t('newRun.start')}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {start.isPending && t('newRun.starting')}
        </Text>
      </Group>
    </form>
  );
}

function experimentProblem(value: ExperimentValue | undefined, none: string, unnamed: string): string | undefined {
  if (!value) return none;
  return value.newName !== undefined && value.newName.trim() === '' ? unnamed : undefined;
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={`panel ${classes.section}`}>
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      <Stack gap="sm">{children}</Stack>
    </section>
  );
}
