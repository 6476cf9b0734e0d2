import { Anchor, CloseButton, Group, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { GraphNode } from '../api/client';
import { templateQuery } from '../api/pipelines';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { ParameterTable } from '../feedback/ParameterTable';
import { useTerm } from '../i18n/useTerm';
import classes from './PipelinePage.module.css';
import { templateOf } from './template';

interface StepPanelProps {
  pipelineID: string;
  versionID: string | undefined;
  step: GraphNode;
  /** The groups that it lies in, from the innermost. */
  around: GraphNode[];
  /** Shows another step, or none. */
  onChoose: (id: string | undefined) => void;
}

/** One step of a pipeline: what it runs, and with what; how often, under which condition, and within which groups. */
export default function StepPanel({ pipelineID, versionID, step, around, onChoose }: StepPanelProps) {
  const { t } = useTranslation();
  const kind = useTerm('stepKind');
  const { data, error, refetch } = useQuery(templateQuery(pipelineID, versionID));
  const template = useMemo(() => (data ? templateOf(data, step.template ?? '') : undefined), [data, step.template]);
  return (
    <section className={classes.step} aria-label={t('node.panel', { name: step.name })}>
      <Group justify="space-between" px="md" wrap="nowrap">
        <Title order={2} size="h5" className="break">
          {step.name}
        </Title>
        <CloseButton aria-label={t('pipeline.closeStep')} onClick={() => onChoose(undefined)} />
      </Group>
      <dl className={classes.details}>
        <dt>{t('field.type')}</dt>
        <dd>{kind(step.type)}</dd>
        <dt>{t('field.template')}</dt>
        <dd>{step.template || t('field.none')}</dd>
        <Turns of={step} />
        {around.length > 0 && (
          <>
            <dt>{t('pipeline.within')}</dt>
            <dd>
              <ul className={classes.around}>
                {around.map((group) => (
                  <li key={group.id}>
                    <Anchor component="button" type="button" size="sm" onClick={() => onChoose(group.id)}>
                      {group.name}
                    </Anchor>
                    {group.loop && <div>{t('graph.eachItem')}</div>}
                    {group.when && <div className="mono">{group.when}</div>}
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
        {template?.image && (
          <>
            <dt>{t('field.image')}</dt>
            <dd className="mono">{template.image}</dd>
          </>
        )}
        {template && template.command.length > 0 && (
          <>
            <dt>{t('field.command')}</dt>
            <dd className="mono">{template.command.join('\n')}</dd>
          </>
        )}
      </dl>
      {error && (
        <Failure title={t('failure.title', { what: t('await.yaml') })} error={error} onRetry={() => void refetch()} />
      )}
      {!data && !error && <Awaiting what={t('await.yaml')} />}
      {template && (
        <>
          <Title order={3} size="h6" px="md" pt="sm">
            {t('node.inputs')}
          </Title>
          <ParameterTable parameters={template.inputs} empty={t('pipeline.noInputs')} caption={t('node.inputs')} />
          <Title order={3} size="h6" px="md" pt="sm">
            {t('node.outputs')}
          </Title>
          <p className={classes.outputs}>{template.outputs.join(', ') || t('node.noOutputs')}</p>
        </>
      )}
    </section>
  );
}

/** How often a step runs, and under which condition; nothing for one that runs once. */
function Turns({ of: { loop, when } }: { of: GraphNode }) {
  const { t } = useTranslation();
  return (
    <>
      {loop && (
        <>
          <dt>{t('pipeline.repeats')}</dt>
          <dd>{t('graph.eachItem')}</dd>
        </>
      )}
      {when && (
        <>
          <dt>{t('pipeline.condition')}</dt>
          <dd className="mono">{when}</dd>
        </>
      )}
    </>
  );
}
