import { Chip, Group, Text, UnstyledButton } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { Duration, Time } from '../format/Duration';
import { findSteps, isFound } from '../graph/find';
import { runSteps, type Step, type Steps } from '../graph/model';
import { StepSearch } from '../graph/StepSearch';
import { StatusBadge, useStatusWord } from '../status/StatusBadge';
import { hasRun, isFinal } from '../status/status';
import { type Column, DataTable } from '../table/DataTable';
import { useSentence } from '../waiting/useSentence';
import classes from './RunPage.module.css';
import type { RunSearch, ShowPatch } from './runSearch';

interface StepsTableProps {
  run: Run;
  search: RunSearch;
  selected: string | undefined;
  onSelect: (id: string) => void;
  onShow: ShowPatch;
}

/** The graph as a table: the same steps, what they wait for, and how they fare. */
export function StepsTable({ run, search, selected, onSelect, onShow }: StepsTableProps) {
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
  const found = findSteps(graph, search.q);
  const rows = graph.steps.filter(
    (step) => isFound(step, found) && (!search.phase || search.phase.includes(step.phase ?? '')),
  );
  return (
    <>
      <StepFilter steps={graph.steps} shown={rows.length} search={search} onShow={onShow} />
      {rows.length === 0 ? (
        <Text c="dimmed" p="lg" role="status">
          {t('list.noneText')}
        </Text>
      ) : (
        <DataTable
          bare
          caption={t('run.stepsCaption')}
          columns={columns}
          rows={rows}
          rowID={(step) => step.id}
          selected={selected}
        />
      )}
    </>
  );
}

interface StepFilterProps {
  steps: Step[];
  shown: number;
  search: RunSearch;
  onShow: ShowPatch;
}

function StepFilter({ steps, shown, search, onShow }: StepFilterProps) {
  const { t } = useTranslation();
  const word = useStatusWord();
  const counts = new Map<string, number>();
  for (const { phase = '' } of steps) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return (
    <Group gap="xs" px="md" py={8} className={classes.filter}>
      <StepSearch q={search.q} onSearch={(q) => onShow({ q })} />
      <Chip.Group
        multiple
        value={search.phase ?? []}
        onChange={(phase) => onShow({ phase: phase.length > 0 ? phase : undefined })}
      >
        {[...counts].map(([phase, count]) => (
          <Chip key={phase} size="xs" variant="outline" value={phase}>
            {word(phase)} {count}
          </Chip>
        ))}
      </Chip.Group>
      <Text size="xs" c="dimmed" role="status">
        {t('run.stepsShown', { shown, count: steps.length })}
      </Text>
    </Group>
  );
}

function useColumns(graph: Steps, onSelect: (id: string) => void): Column<Step>[] {
  const { t } = useTranslation();
  const sentence = useSentence();
  return useMemo(() => {
    const names = new Map(graph.steps.map((step) => [step.id, step.name]));
    const after = new Map<string, string[]>();
    for (const { from, to } of graph.edges) after.set(to, [...(after.get(to) ?? []), names.get(from) ?? from]);
    return [
      {
        id: 'step',
        lead: true,
        header: t('field.step'),
        cell: (row) => (
          <UnstyledButton className={classes.stepButton} onClick={() => onSelect(row.id)}>
            {row.name}
          </UnstyledButton>
        ),
      },
      {
        id: 'status',
        header: t('field.status'),
        cell: (step) => (
          <>
            <StatusBadge phase={step.phase} />
            {step.waiting && (
              <Text
                size="sm"
                c="dimmed"
                mt={4}
                miw={220}
                lineClamp={6}
                title={sentence(step.waiting)}
                className="break"
              >
                {sentence(step.waiting)}
              </Text>
            )}
          </>
        ),
      },
      {
        id: 'duration',
        header: t('field.duration'),
        cell: (step) =>
          hasRun(step.phase) ? (
            <Duration start={step.started} end={step.finished} live={!isFinal(step.phase)} />
          ) : (
            t('field.none')
          ),
      },
      { id: 'started', header: t('field.started'), cell: (row) => <Time at={row.started} /> },
      { id: 'template', header: t('field.template'), cell: (row) => row.kind },
      {
        id: 'after',
        header: t('field.after'),
        cell: (row) => (
          <Text size="sm" lineClamp={2} miw={140}>
            {after.get(row.id)?.join(', ') ?? t('field.none')}
          </Text>
        ),
      },
    ];
  }, [t, sentence, graph, onSelect]);
}
