import { CloseButton, Group, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { GraphNode } from '../api/client';
import { graphQuery } from '../api/pipelines';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { ParameterTable } from '../feedback/ParameterTable';
import { LazyStepGraph } from '../graph/LazyStepGraph';
import { pipelineSteps } from '../graph/model';
import classes from './PipelinePage.module.css';

interface PipelineGraphProps {
  pipelineID: string;
  versionID: string | undefined;
  step: string | undefined;
  onStep: (id: string | undefined) => void;
}

/** What a pipeline will do, with the chosen step beside it. */
export function PipelineGraph({ pipelineID, versionID, step, onStep }: PipelineGraphProps) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(graphQuery(pipelineID, versionID));
  const graph = useMemo(() => pipelineSteps(data ?? {}), [data]);
  const what = t('await.graph');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Awaiting what={what} />;
  if (graph.steps.length === 0) {
    return (
      <Text c="dimmed" p="lg">
        {t('pipeline.noGraph')}
      </Text>
    );
  }
  const chosen = data.nodes?.find(({ id }) => id === step) as GraphNode | undefined;
  return (
    <div className={classes.graph} data-step={chosen ? true : undefined}>
      <div className={classes.canvas}>
        <LazyStepGraph graph={graph} selected={step} onSelect={onStep} />
      </div>
      {chosen && <StepPanel step={chosen} onClose={() => onStep(undefined)} />}
    </div>
  );
}

function StepPanel({ step, onClose }: { step: GraphNode; onClose: () => void }) {
  const { t } = useTranslation();
  const command = [...(step.command ?? []), ...(step.args ?? [])].join('\n');
  const rows: [string, string | undefined][] = [
    [t('field.type'), step.type],
    [t('field.template'), step.template],
    [t('field.image'), step.image],
    [t('field.condition'), step.when],
    [t('field.loop'), step.loop],
    [t('field.command'), command],
  ];
  return (
    <section className={classes.step} aria-label={t('node.panel', { name: step.name })}>
      <Group justify="space-between" px="md" wrap="nowrap">
        <Title order={2} size="h5" className="break">
          {step.name}
        </Title>
        <CloseButton aria-label={t('pipeline.closeStep')} onClick={onClose} />
      </Group>
      <dl className={classes.details}>
        {rows
          .filter(([, value]) => value)
          .map(([label, value]) => (
            <div key={label} style={{ display: 'contents' }}>
              <dt>{label}</dt>
              <dd className={label === t('field.command') ? 'mono' : undefined}>{value}</dd>
            </div>
          ))}
      </dl>
      <Title order={3} size="h6" px="md" pt="sm">
        {t('node.inputs')}
      </Title>
      <ParameterTable parameters={step.inputs ?? []} empty={t('pipeline.noInputs')} caption={t('node.inputs')} />
    </section>
  );
}
