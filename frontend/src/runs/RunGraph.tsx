import { Button, Checkbox, Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { LazyStepGraph } from '../graph/LazyStepGraph';
import { hideSucceeded, runSteps } from '../graph/model';
import { isFinal } from '../status/status';
import { SearchField } from '../table/SearchField';
import classes from './RunPage.module.css';
import type { RunSearch, ShowPatch } from './runSearch';
import { StepsTable } from './StepsTable';

// Beyond this a drawing says less than a table, and costs more: the table is offered first.
const mostSteps = 2000;

interface RunGraphProps {
  run: Run;
  search: RunSearch;
  onShow: ShowPatch;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

/** The live graph of a run. */
export function RunGraph({ run, search, selected, onSelect, onShow }: RunGraphProps) {
  const { t } = useTranslation();
  const graph = useMemo(() => runSteps((run.nodes ?? []) as RunNode[]), [run.nodes]);
  if (graph.steps.length === 0) {
    return (
      <Text c="dimmed" p="lg" role="status">
        {isFinal(run.status) ? t('run.noStepsFinal') : t('run.noSteps')}
      </Text>
    );
  }
  if (graph.steps.length > mostSteps && !search.draw) {
    return (
      <>
        <Group p="md" gap="sm">
          <Text c="dimmed">{t('run.manySteps', { count: graph.steps.length })}</Text>
          <Button size="xs" variant="default" onClick={() => onShow({ draw: true })}>
            {t('run.drawGraph')}
          </Button>
        </Group>
        <StepsTable run={run} search={search} selected={selected} onSelect={onSelect} onShow={onShow} />
      </>
    );
  }
  const some = graph.steps.some((step) => step.phase === 'Succeeded');
  const shown = search.hide ? hideSucceeded(graph) : graph;
  return (
    <>
      {graph.steps.length > 3 && (
        <Group gap="md" px="md" py={8} className={classes.filter}>
          <SearchField
            size="xs"
            w={200}
            aria-label={t('run.findStep')}
            placeholder={t('run.findStep')}
            q={search.q}
            onSearch={(q) => onShow({ q })}
          />
          {(some || search.hide) && (
            <Checkbox
              size="xs"
              label={t('graph.hideSucceeded')}
              checked={search.hide === 'succeeded'}
              onChange={(event) => onShow({ hide: event.currentTarget.checked ? 'succeeded' : undefined })}
            />
          )}
        </Group>
      )}
      {shown.steps.length === 0 ? (
        <Text c="dimmed" p="lg" role="status">
          {t('graph.allHidden')}
        </Text>
      ) : (
        <LazyStepGraph graph={shown} selected={selected} onSelect={onSelect} find={search.q} />
      )}
    </>
  );
}
