import { Text, UnstyledButton } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { Duration, Time } from '../format/Duration';
import { runSteps, type Step, type Steps } from '../graph/model';
import { StatusBadge } from '../status/StatusBadge';
import { hasRun, isFinal } from '../status/status';
import { type Column, DataTable } from '../table/DataTable';
import classes from './RunPage.module.css';

interface StepsTableProps {
  run: Run;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

/** The graph as a table: the same steps, what they wait for, and how they fare. */
export function StepsTable({ run, selected, onSelect }: StepsTableProps) {
  const { t } = useTranslation();
  const graph = useMemo(() => runSteps((run.nodes ?? []) as RunNode[]), [run.nodes]);
  const columns = useColumns(graph, onSelect);
  if (graph.steps.length === 0) {
    return (
      <Text c="dimmed" p="lg" role="status">
        {isFinal(run.status) ? t('run.noStepsFinal') : t('run.noSteps')}
      </Text>
    );
  }
  return (
    <DataTable
      bare
      caption={t('run.stepsCaption')}
      columns={columns}
      rows={graph.steps}
      rowID={(step) => step.id}
      selected={selected}
    />
  );
}

function useColumns(graph: Steps, onSelect: (id: string) => void): Column<Step>[] {
  const { t } = useTranslation();
  return useMemo(() => {
    const names = new Map(graph.steps.map((step) => [step.id, step.name]));
    const after = new Map<string, string[]>();
    for (const { from, to } of graph.edges) after.set(to, [...(after.get(to) ?? []), names.get(from) ?? from]);
    return [
      {
        id: 'step',
        header: t('field.step'),
        cell: ({ row }) => (
          <UnstyledButton className={classes.stepButton} onClick={() => onSelect(row.original.id)}>
            {row.original.name}
          </UnstyledButton>
        ),
      },
      {
        id: 'status',
        header: t('field.status'),
        cell: ({ row: { original: step } }) => (
          <>
            <StatusBadge phase={step.phase} />
            {step.waiting && (
              <Text size="sm" c="dimmed" mt={4} miw={220} lineClamp={6} title={step.waiting} className="break">
                {step.waiting}
              </Text>
            )}
          </>
        ),
      },
      {
        id: 'duration',
        header: t('field.duration'),
        cell: ({ row: { original: step } }) =>
          hasRun(step.phase) ? (
            <Duration start={step.started} end={step.finished} live={!isFinal(step.phase)} />
          ) : (
            t('field.none')
          ),
      },
      { id: 'started', header: t('field.started'), cell: ({ row }) => <Time at={row.original.started} /> },
      { id: 'template', header: t('field.template'), cell: ({ row }) => row.original.kind },
      {
        id: 'after',
        header: t('field.after'),
        cell: ({ row }) => (
          <Text size="sm" lineClamp={2} miw={140}>
            {after.get(row.original.id)?.join(', ') ?? t('field.none')}
          </Text>
        ),
      },
    ];
  }, [t, graph, onSelect]);
}
