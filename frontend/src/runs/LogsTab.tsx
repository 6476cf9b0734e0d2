import { Select } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import type { NodeLog as Log } from '../api/runs';
import { stepLabels } from '../graph/model';
import { LazyLogView } from '../logs/LazyLogView';
import { runsSomething } from './focusNode';
import { NodeLog } from './NodeLog';
import classes from './RunPage.module.css';
import type { RunSearch, ShowPatch } from './runSearch';

interface LogsTabProps {
  run: Run;
  search: RunSearch;
  onShow: ShowPatch;
}

/** Stands for all steps. */
const wholeRun = '';

// So many steps are offered at once; typing finds the others.
const mostOffered = 200;

/** The log of the whole run, every pod merged by time, or that of one of its steps. */
export function LogsTab({ run, search, onShow }: LogsTabProps) {
  const { t } = useTranslation();
  const nodes = (run.nodes ?? []) as RunNode[];
  const labels = useMemo(() => stepLabels((run.nodes ?? []) as RunNode[]), [run.nodes]);
  const steps = nodes.filter(runsSomething);
  const node = nodes.find(({ id }) => id === search.node);
  const offered = node && !runsSomething(node) ? [node, ...steps] : steps;
  return (
    <div className={`panel ${classes.node}`}>
      <Select
        size="xs"
        px={8}
        pt={8}
        maw={420}
        searchable
        allowDeselect={false}
        limit={mostOffered}
        aria-label={t('log.step')}
        value={node?.id ?? wholeRun}
        data={[
          { value: wholeRun, label: t('log.wholeRun') },
          ...offered.map(({ id }) => ({ value: id, label: labels.get(id) ?? id })),
        ]}
        onChange={(id) => onShow({ node: id || undefined, logs: undefined, side: undefined })}
      />
      {node ? (
        <NodeLog
          key={node.id}
          run={run}
          node={node}
          search={search}
          onShow={(patch) => onShow({ node: node.id, ...patch })}
        />
      ) : (
        <RunLog run={run} search={search} onShow={onShow} labels={labels} />
      )}
    </div>
  );
}

function RunLog({ run, search, onShow, labels }: LogsTabProps & { labels: Map<string, string> }) {
  const { t } = useTranslation();
  /** The step, its rank or container where it is not the main one, and the attempt of a run that was retried. */
  const nameOf = (key: string, log?: Log) => {
    if (!log) return key.split('/')[1] ?? key;
    const step = labels.get(log.node_id ?? '') ?? log.step ?? log.pod;
    const part = log.role ? `${log.role} ${log.rank ?? 0}` : log.container === 'main' ? undefined : log.container;
    const attempt = (log.attempt ?? 1) > 1 ? t('log.attempt', { attempt: log.attempt }) : undefined;
    return [step, part, attempt].filter(Boolean).join(' · ');
  };
  return (
    <LazyLogView
      step={run.name}
      source={{ runID: run.id, merged: 'ranks' }}
      nameOf={nameOf}
      find={search.find}
      wrap={search.wrap}
      side={search.side}
      onShow={onShow}
    />
  );
}
