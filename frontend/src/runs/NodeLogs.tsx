import { Group, MultiSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { type LogSource, lineKey, logKey } from '../api/logs';
import { type NodeLog, nodeLogsQuery } from '../api/runs';
import { Awaiting } from '../feedback/Awaiting';
import { stepName } from '../graph/model';
import { LazyLogView } from '../logs/LazyLogView';
import { isFinal } from '../status/status';
import { useChosen } from '../table/useTyped';
import type { RunSearch, ShowPatch } from './runSearch';

export interface NodeLogsProps {
  run: Run;
  node: RunNode;
  search: RunSearch;
  onShow: ShowPatch;
}

/** Stands for all logs of a step, also those that begin later. */
const allLogs = 'all';

/** The logs of a step: its own, and of all pods and attempts of its distributed job, several of them merged by time. */
export function NodeLogs({ run, node, search, onShow }: NodeLogsProps) {
  const { t } = useTranslation();
  const { data: logs = [], isPending } = useQuery(nodeLogsQuery(run.id, node.id, !isFinal(node.phase)));
  const names = useLogNames(logs);
  const byKey = new Map(logs.map((log) => [logKey(log), log]));
  const all = names.size > 1 && search.logs?.includes(allLogs);
  const chosen = all ? [allLogs] : (search.logs ?? []).filter((key) => names.has(key));
  const [picked, pick] = useChosen(chosen, (keys) => onShow({ logs: keys.length > 0 ? keys : undefined }));
  // A step's own pod repeats what the ranks of its job print.
  const ranks = logs.filter((log) => log.role);
  const every = ranks.length > 0 ? ranks : logs;
  const shown = all ? every : chosen.flatMap((key) => byKey.get(key) ?? []);
  const merged = all ? (ranks.length > 0 ? 'ranks' : 'all') : shown.length > 1 ? shown : undefined;
  const source: LogSource = { runID: run.id, nodeID: node.id, ...(merged ? { merged } : { log: shown[0] }) };
  return (
    <>
      {names.size > 1 && (
        <Group gap="xs" px={8} pt={8} wrap="nowrap">
          <MultiSelect
            flex={1}
            size="xs"
            searchable
            clearable
            clearButtonProps={{ 'aria-label': t('log.stepsOwn') }}
            aria-label={t('log.which')}
            placeholder={chosen.length === 0 ? t('log.choose', { count: names.size }) : undefined}
            value={picked}
            data={[
              { value: allLogs, label: t(ranks.length > 0 ? 'log.allRanks' : 'log.all') },
              ...[...names].map(([value, label]) => ({ value, label })),
            ]}
            // All are chosen instead of some, and some instead of all.
            onChange={(keys) => pick(keys.at(-1) === allLogs ? [allLogs] : keys.filter((key) => key !== allLogs))}
          />
        </Group>
      )}
      <CutLogs logs={shown} names={names} />
      {search.logs && isPending ? (
        <Awaiting what={t('await.log')} />
      ) : (
        <LazyLogView
          // Another choice is another log, with a place of its own.
          key={chosen.join()}
          step={stepName(node)}
          source={source}
          nameOf={(key) => nameOf(key, names, t)}
          find={search.find}
          wrap={search.wrap}
          side={search.side}
          onShow={onShow}
        />
      )}
    </>
  );
}

// So many logs that are not complete are named.
const mostCut = 3;

function CutLogs({ logs, names }: { logs: NodeLog[]; names: Map<string, string> }) {
  const { t } = useTranslation();
  const cut = logs.filter((log) => log.state === 'cut');
  const line = (key: string, text: string) => (
    <Text key={key} size="xs" c="dimmed" px={8} pt={4} role="status">
      {text}
    </Text>
  );
  return (
    <>
      {cut
        .slice(0, mostCut)
        .map((log) => line(lineKey(log), t('log.cut', { name: names.get(logKey(log)), why: log.message ?? '' })))}
      {cut.length > mostCut && line('more', t('log.cutMore', { count: cut.length - mostCut }))}
    </>
  );
}

/** The name of a log; of a container that was restarted, with how often it had been. */
function nameOf(key: string, names: Map<string, string>, t: TFunction): string {
  const [attempt, pod, container, restart] = key.split('/');
  const name = names.get([attempt, pod, container].join('/')) ?? key;
  return restart ? `${name} · ${t('log.restart', { restart })}` : name;
}

// The containers that do the work: of a step, and of the pods of each kind of job.
const usual = new Set(['main', 'pytorch', 'tensorflow', 'xgboost', 'paddle', 'jax', 'mxnet', 'node']);

/** The logs by role, rank and container; what all have alike is left out. Of a container that was restarted the newest counts. */
function useLogNames(logs: NodeLog[]): Map<string, string> {
  const { t } = useTranslation();
  return useMemo(() => {
    const retried = new Set(logs.map((log) => log.attempt ?? 1)).size > 1;
    const sorted = [...logs].sort(
      (a, b) =>
        (a.attempt ?? 1) - (b.attempt ?? 1) ||
        (a.role ?? '').localeCompare(b.role ?? '') ||
        (a.rank ?? 0) - (b.rank ?? 0) ||
        (a.started_at ?? '').localeCompare(b.started_at ?? ''),
    );
    return new Map(
      sorted.map((log) => {
        const pod = log.role ? `${log.role} ${log.rank ?? 0}` : t('log.own');
        const container = usual.has(log.container ?? '') || log.container === log.role ? [] : [log.container];
        const attempt = retried ? [t('log.attempt', { attempt: log.attempt ?? 1 })] : [];
        return [logKey(log), [pod, ...container, ...attempt].join(' · ')];
      }),
    );
  }, [logs, t]);
}
