import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useTerm } from '../i18n/useTerm';
import { runsSomething } from './focusNode';
import { NodeLogs, type NodeLogsProps } from './NodeLogs';

/** Why a step has no log, by its type; the others group steps. */
const noLog = new Map([
  ['Suspend', 'node.noLogSuspend'],
  ['HTTP', 'node.noLogHTTP'],
  ['Plugin', 'node.noLogPlugin'],
  ['Container', 'node.noLogContainer'],
] as const) as ReadonlyMap<string, 'node.noLogSuspend'>;

/** The log of a step, or why it has none. */
export function NodeLog({ run, node, search, onShow }: NodeLogsProps) {
  const { t } = useTranslation();
  const kind = useTerm('stepKind');
  const explain = (text: string) => (
    <Text c="dimmed" size="sm" p="md" role="status" style={{ whiteSpace: 'pre-wrap' }}>
      {text}
    </Text>
  );
  if (node.phase === 'Skipped' || node.phase === 'Omitted') return explain(t('node.notRun'));
  if (!runsSomething(node))
    return explain(t(noLog.get(node.type ?? '') ?? 'node.noLogKind', { type: kind(node.type) }));
  if (!node.has_log && (node.phase === 'Pending' || !node.phase)) {
    const why = node.message && !node.waiting ? `\n${t('node.pendingWhy', { message: node.message })}` : '';
    return explain(t('node.pending') + why);
  }
  return <NodeLogs run={run} node={node} search={search} onShow={onShow} />;
}
