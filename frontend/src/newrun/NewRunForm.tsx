import { Button, Group, SegmentedControl, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { createExperiment, experimentQuery } from '../api/experiments';
import { pipelineQuery, versionsQuery } from '../api/pipelines';
import { createRun, type NewRun } from '../api/runs';
import { createSchedule, type NewSchedule, updateSchedule } from '../api/schedules';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { useParameterRules } from '../pipelines/useParameterRules';
import { AsCommand } from './AsCommand';
import { commandLine, curl, editLine } from './command';
import { ExperimentField, type ExperimentValue, useExperimentDefault } from './ExperimentField';
import classes from './NewRun.module.css';
import { type NewRunSearch, searchValues, valuesPatch } from './newRunSearch';
import { ParameterFields } from './ParameterFields';
import { ParameterFile } from './ParameterFile';
import { PipelineField } from './PipelineField';
import { Preflight } from './Preflight';
import { parameterValues, problemOf, suggestName } from './parameters';
import type { Source } from './source';
import { TriggerFields } from './TriggerFields';
import { draftTrigger, newTrigger } from './triggerDraft';
import { usePreflight } from './usePreflight';

interface NewRunFormProps {
  search: NewRunSearch;
  /** What the first values are taken from. */
  source: Source | undefined;
}

/** The form that starts a run, or a schedule of runs; choices that others may want to share stand in the URL. */
export function NewRunForm({ search, source }: NewRunFormProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const pipelineID = search.pipeline ?? source?.pipelineID;
  const pipeline = useQuery({ ...pipelineQuery(pipelineID ?? ''), enabled: Boolean(pipelineID) });
  const versions = useQuery({ ...versionsQuery(pipelineID ?? ''), enabled: Boolean(pipelineID) });

  const changing = search.recurring && search.replace ? search.schedule : undefined;
  const [begun] = useState(() => new Date());
  const [typedName, setName] = useState<string>();
  const [description, setDescription] = useState(source?.description ?? '');
  const [typed, setTyped] = useState(() => searchValues(search));
  const [chosen, setExperiment] = useState<ExperimentValue>();
  const [draft, setDraft] = useState(source?.trigger ?? newTrigger);
  const [asked, setAsked] = useState(false);
  const fallback = useExperimentDefault(search.experiment ?? source?.experimentID);

  const defaultVersion = pipeline.data?.default_version?.id;
  const versionID = search.version ?? (search.pipeline ? undefined : source?.versionID) ?? defaultVersion;
  const version = versions.data?.items.find(({ id }) => id === versionID);
  // What the schedule runs on with: its version is deleted, and no other is chosen.
  const kept = changing && versionID === source?.versionID ? source?.declared : undefined;
  const parameters = parameterValues(
    kept ?? version?.parameters ?? pipeline.data?.parameters ?? [],
    typed,
    source?.parameters ?? [],
  );
  const rules = useParameterRules(kept ? undefined : pipelineID, versionID);
  const suggested = changing
    ? source?.name
    : source
      ? suggestName(source.name.replace(stamp, ''), begun)
      : pipeline.data && suggestName(pipeline.data.name, begun);
  const name = typedName ?? suggested ?? '';
  const experiment = chosen ?? fallback.value;
  // What is being read fills the form in; until then it would be found incomplete.
  const awaited = pipeline.isLoading || versions.isLoading || !rules || (!experiment && fallback.awaited);

  const problems = {
    pipeline: versionID ? undefined : t('newRun.pipelineNeeded'),
    name: name.trim() ? undefined : t('newRun.nameNeeded'),
    experiment: experimentProblem(experiment, t('newRun.experimentNeeded'), t('newRun.experimentNameNeeded')),
    parameters: parameters.map(({ name, value }) => problemOf(rules?.[name], value, t)).find(Boolean),
    trigger: search.recurring && !draftTrigger(draft) ? t('trigger.wrong') : undefined,
  };
  const complete = Object.values(problems).every((problem) => problem === undefined);

  // Only what differs from the default is sent: a later version may have better ones.
  const runOf = (experimentID: string): NewRun => ({
    name: name.trim(),
    description: description.trim(),
    versionID: versionID ?? '',
    experimentID,
    parameters: parameters
      .filter(({ value, fallback }) => value !== fallback)
      .map((parameter) => ({ name: parameter.name, value: parameter.value })),
  });
  const scheduleOf = (run: NewRun): NewSchedule | undefined => {
    const trigger = search.recurring ? draftTrigger(draft) : undefined;
    return (
      trigger && {
        ...run,
        trigger,
        maxConcurrency: draft.maxConcurrency,
        catchUp: draft.catchUp,
        serviceAccount: source?.serviceAccount,
      }
    );
  };

  const start = useMutation({
    mutationFn: async () => {
      const run = runOf(experiment?.id ?? (await makeExperiment(experiment?.newName ?? '')));
      const schedule = scheduleOf(run);
      if (!schedule) return { runId: await createRun(run) };
      if (!changing) return { scheduleId: await createSchedule(schedule) };
      await updateSchedule(changing, schedule);
      return { scheduleId: changing };
    },
    onSuccess: async ({ runId, scheduleId }) => {
      void client.invalidateQueries({ queryKey: ['runs'] });
      void client.invalidateQueries({ queryKey: ['schedules'] });
      void client.invalidateQueries({ queryKey: ['schedule'] });
      if (scheduleId) await navigate({ to: '/schedules/$scheduleId', params: { scheduleId } });
      else await navigate({ to: '/runs/$runId', params: { runId: runId ?? '' } });
    },
  });

  // If the run is then refused, the experiment is there already: it stays chosen, and is not made twice.
  const makeExperiment = async (newName: string) => {
    const { id } = await createExperiment(newName.trim(), '');
    await client.invalidateQueries({ queryKey: ['experiments'] });
    setExperiment({ id });
    return id;
  };

  const sketch = runOf(experiment?.id ?? '');
  const preflight = usePreflight(sketch, Boolean(versionID) && !kept && !problems.parameters);
  // A schedule may outlive a shortage.
  const never = preflight.blocks && !search.recurring;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked(true);
    if (complete && !never) start.mutate();
  };
  const differing = sketch.parameters.length;
  const { data: known } = useQuery({ ...experimentQuery(experiment?.id ?? ''), enabled: Boolean(experiment?.id) });
  const names = {
    pipeline: pipeline.data?.name ?? '',
    version: versionID === defaultVersion ? undefined : (version?.name ?? versionID),
    experiment: experiment?.newName ?? known?.name,
  };
  const planned = scheduleOf(sketch);
  const edited = parameters.filter(({ value, begin }) => value !== begin).map(({ name, value }) => ({ name, value }));
  const command =
    changing && source && planned
      ? editLine(source, { ...planned, parameters: edited }, { ...names, version: version?.name })
      : commandLine(sketch, names, planned);
  const choose = (patch: NewRunSearch) =>
    void navigate({ to: '.', search: { ...search, ...patch }, replace: true, resetScroll: false });
  // The address holds what was typed, so that it can be sent to others and opened again.
  const write = (values: Record<string, string>) => {
    const all = { ...typed, ...values };
    setTyped(all);
    const differing = parameters.map(({ name, begin }) => [name, all[name] === begin ? undefined : all[name]]);
    choose(valuesPatch(Object.fromEntries(differing)));
  };
  const changePipeline = (id: string | undefined) => {
    const none = valuesPatch(Object.fromEntries(Object.keys(typed).map((name) => [name, undefined])));
    setTyped({});
    choose({ ...none, pipeline: id, version: undefined });
  };
  const unknown = version ? Object.keys(typed).filter((name) => parameters.every((one) => one.name !== name)) : [];

  return (
    <form onSubmit={submit} noValidate className={classes.form}>
      <Section title={t('newRun.what')}>
        <PipelineField
          pipeline={pipeline.data ?? (pipelineID ? { id: pipelineID, name: '' } : undefined)}
          versions={versions.data?.items ?? []}
          versionID={versionID}
          gone={Boolean(kept)}
          defaultVersionID={defaultVersion}
          error={asked ? problems.pipeline : undefined}
          onPipeline={changePipeline}
          onVersion={(id) => choose({ pipeline: pipelineID, version: id })}
        />
        {kept && (
          <Text size="sm" c="dimmed">
            {t('newRun.versionGone')}
          </Text>
        )}
        {!kept && (pipeline.error ?? versions.error) && (
          <Failure
            title={t('failure.title', { what: t('await.pipeline') })}
            error={pipeline.error ?? versions.error}
            onRetry={() => void Promise.all([pipeline.refetch(), versions.refetch()])}
          />
        )}
      </Section>
      <Section title={t('newRun.how')}>
        <SegmentedControl
          aria-label={t('newRun.runType')}
          style={{ alignSelf: 'flex-start' }}
          value={search.recurring ? 'recurring' : 'once'}
          data={[
            { value: 'once', label: t('newRun.once') },
            { value: 'recurring', label: t('newRun.recurring') },
          ]}
          onChange={(value) => choose({ recurring: value === 'recurring' || undefined })}
        />
        <TextInput
          label={search.recurring ? t('newRun.scheduleName') : t('newRun.runName')}
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
      {search.recurring && (
        <Section title={t('schedules.when')}>
          {changing && (
            <Text size="sm" c="dimmed">
              {t('newRun.changes')}
            </Text>
          )}
          <TriggerFields draft={draft} onChange={setDraft} />
        </Section>
      )}
      <Section title={t('newRun.parameters')}>
        {versionID && !rules && <Awaiting what={t('await.pipeline')} rows={3} />}
        {unknown.length > 0 && (
          <Text size="sm" c="var(--ar-warn)">
            {t('newRun.unknownValues', { names: unknown.join(', ') })}
          </Text>
        )}
        {versionID && rules && parameters.length > 0 && (
          <ParameterFile names={parameters.map(({ name }) => name)} rules={rules} onValues={write} />
        )}
        {versionID && rules && (
          <ParameterFields
            parameters={parameters}
            before={source && { name: source.name, parameters: source.parameters }}
            rules={rules}
            onChange={(parameter, value) => write({ [parameter]: value })}
          />
        )}
        {!versionID && (
          <Text size="sm" c="dimmed">
            {t('newRun.choosePipelineFirst')}
          </Text>
        )}
      </Section>
      {versionID && !kept && <Preflight check={preflight} />}
      {start.isError && <Failure title={t('newRun.refused')} error={start.error} />}
      <Group gap="sm">
        <Button
          type="submit"
          disabled={never || awaited}
          loading={start.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
        >
          {changing ? t('newRun.saveSchedule') : search.recurring ? t('newRun.startSchedule') : t('newRun.start')}
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {start.isPending
            ? t('newRun.starting')
            : asked && !complete
              ? t('newRun.incomplete')
              : versionID && (differing === 0 ? t('newRun.sendsNone') : t('newRun.sends', { count: differing }))}
        </Text>
      </Group>
      {versionID && (
        <Section title={t('newRun.same')}>
          <AsCommand command={command} request={curl(globalThis.location?.origin ?? '', sketch, planned, changing)} />
        </Section>
      )}
    </form>
  );
}

// The time that the name of the source ends with is not that of the new one.
const stamp = / \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

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
