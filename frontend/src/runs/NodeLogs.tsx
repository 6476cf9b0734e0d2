import { Group, MultiSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { logKey } from '../api/logs';
import { logURL, type NodeLog, nodeLogsQuery } from '../api/runs';
import { stepName } from '../graph/model';
import { LazyLogView } from '../logs/LazyLogView';
import { isFinal } from '../status/status';
import { useChosen } from '../table/useTyped';
import type { RunSearch, ShowPatch } from './runSearch';

interface NodeLogsProps {
  run: Run;
  node: RunNode;
  search: RunSearch;
  onShow: ShowPatch;
}

/** The logs of a step: its own, and of all pods and attempts of its distributed job, several of them merged by time. */
export function NodeLogs({ run, node, search, onShow }: NodeLogsProps) {
  const { t } = useTranslation();
  const { data: logs = [] } = useQuery(nodeLogsQuery(run.id, node.id, !isFinal(node.phase)));
  const names = useLogNames(logs);
  const chosen = (search.logs ?? []).filter((key) => names.has(key));
  const [picked, pick] = useChosen(chosen, (keys) => onShow({ logs: keys.length > 0 ? keys : undefined }));
  const byKey = new Map(logs.map((log) => [logKey(log), log]));
  const urls = chosen.map((key) => logURL(run.id, node.id, true, byKey.get(key), chosen.length > 1));
  const cut = chosen.map((key) => byKey.get(key)).filter((log) => log?.state === 'cut');
  return (
    <>
      {names.size > 1 && (
        <Group gap="xs" px={10} pt={8} wrap="nowrap">
          <MultiSelect
            flex={1}
            size="xs"
            searchable
            clearable
            clearButtonProps={{ 'aria-label': t('log.stepsOwn') }}
            aria-label={t('log.which')}
            placeholder={chosen.length === 0 ? t('log.choose', { count: names.size }) : undefined}
            value={picked}
            data={[...names].map(([value, label]) => ({ value, label }))}
            onChange={pick}
          />
        </Group>
      )}
      {cut.map((log) => (
        <Text key={log ? logKey(log) : ''} size="xs" c="dimmed" px={10} pt={4} role="status">
          {t('log.cut', { name: log ? names.get(logKey(log)) : '', why: log?.message ?? '' })}
        </Text>
      ))}
      <LazyLogView
        // Another choice is another log, with a search and a place of its own.
        key={chosen.join()}
        step={stepName(node)}
        urls={urls.length > 0 ? urls : [logURL(run.id, node.id, true)]}
        names={chosen.length > 1 ? chosen.map((key) => names.get(key) ?? key) : undefined}
        source={{
          runID: run.id,
          nodeID: node.id,
          ...(chosen.length > 1
            ? { merged: chosen.flatMap((key) => byKey.get(key) ?? []) }
            : { log: byKey.get(chosen[0] ?? '') }),
        }}
        download={chosen.length > 1 ? undefined : logURL(run.id, node.id, false, byKey.get(chosen[0] ?? ''))}
      />
    </>
  );
}

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
        const container = log.container === 'main' || log.container === log.role ? [] : [log.container];
        const attempt = retried ? [t('log.attempt', { attempt: log.attempt ?? 1 })] : [];
        return [logKey(log), [pod, ...container, ...attempt].join(' · ')];
      }),
    );
  }, [logs, t]);
}
