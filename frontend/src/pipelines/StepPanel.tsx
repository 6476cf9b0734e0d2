import { CloseButton, Group, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { GraphNode } from '../api/client';
import { templateQuery } from '../api/pipelines';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { ParameterTable } from '../feedback/ParameterTable';
import classes from './PipelinePage.module.css';
import { templateOf } from './template';

interface StepPanelProps {
  pipelineID: string;
  versionID: string | undefined;
  step: GraphNode;
  onClose: () => void;
}

/** One step of a pipeline: what it runs, and with what. */
export default function StepPanel({ pipelineID, versionID, step, onClose }: StepPanelProps) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(templateQuery(pipelineID, versionID));
  const template = useMemo(() => (data ? templateOf(data, step.template ?? '') : undefined), [data, step.template]);
  return (
    <section className={classes.step} aria-label={t('node.panel', { name: step.name })}>
      <Group justify="space-between" px="md" wrap="nowrap">
        <Title order={2} size="h5" className="break">
          {step.name}
        </Title>
        <CloseButton aria-label={t('pipeline.closeStep')} onClick={onClose} />
      </Group>
      <dl className={classes.details}>
        <dt>{t('field.type')}</dt>
        <dd>{step.type}</dd>
        <dt>{t('field.template')}</dt>
        <dd>{step.template || t('field.none')}</dd>
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
