import { Button, Group, Text } from '@mantine/core';
import { IconCircleXFilled, IconReload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { logURL } from '../api/logs';
import { problemOf } from '../api/problem';
import { stepLabels } from '../graph/model';
import { Lines, plain } from '../logs/lines';
import { isFailure } from '../status/status';
import { useSentence } from '../waiting/useSentence';
import { exitMeaning } from './exitCode';
import { failedNode, runsSomething } from './focusNode';
import { RetryDialog } from './RetryDialog';
import classes from './RunPage.module.css';

// As many last lines as usually hold a traceback's end.
const tailLines = 12;

interface FailureBannerProps {
  run: Run;
  onShowLog: (nodeID: string) => void;
  onRetried: () => void;
}

/** Says why a run failed: the step, its exit code, the cause, and the last lines that it printed; and retries it. */
export function FailureBanner({ run, onShowLog, onRetried }: FailureBannerProps) {
  const { t } = useTranslation();
  const sentence = useSentence();
  if (!isFailure(run.status)) return null;
  const node = failedNode(run);
  // A launcher puts the command's last lines below its cause: better ones than the log's own, which end with the launcher's.
  const [cause, ...printed] = (node?.message ?? '').trimEnd().split('\n');
  // The run's error often repeats what its step says.
  const causes = [...new Set([cause, run.error].filter((text) => text?.trim()))];
  const step = node && stepLabels((run.nodes ?? []) as RunNode[]).get(node.id);
  const title = !node
    ? t('run.failedTitle')
    : node.exit_code
      ? t('run.failedStepExit', { step, code: node.exit_code })
      : t('run.failedStep', { step });
  const meaning = exitMeaning(node?.exit_code, `${node?.message ?? ''}`);
  return (
    <section className={classes.banner} aria-label={t('run.failedTitle')}>
      <h2 className={classes.bannerTitle}>
        <IconCircleXFilled size={20} aria-hidden />
        {title}
      </h2>
      {meaning && (
        <Text size="sm">
          <strong>{t(`cause.${meaning}`)}</strong> {t(`cause.do.${meaning}`)}
        </Text>
      )}
      {causes.map((text) => (
        <Text key={text} size="sm" className="break" style={{ whiteSpace: 'pre-wrap' }}>
          {sentence(text)}
        </Text>
      ))}
      {printed.length > 0 && <LastLines lines={printed} />}
      {node && runsSomething(node) && printed.length === 0 && <LogTail runID={run.id} nodeID={node.id} />}
      <Group gap="xs">
        {node && runsSomething(node) && (
          <Button size="xs" variant="default" onClick={() => onShowLog(node.id)}>
            {t('run.showLog')}
          </Button>
        )}
        <Retries run={run} step={node && runsSomething(node) ? node : undefined} onRetried={onRetried} />
      </Group>
      {node && <Consequences run={run} cause={node} onShow={onShowLog} />}
    </section>
  );
}

/** Retries what failed, as it was or from the failed step with other parameters. */
function Retries({ run, step, onRetried }: { run: Run; step: RunNode | undefined; onRetried: () => void }) {
  const { t } = useTranslation();
  const [retrying, setRetrying] = useState<'all' | 'step'>();
  const from = retrying === 'step' ? { step, changing: true } : {};
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconReload size={14} aria-hidden />}
        onClick={() => setRetrying('all')}
      >
        {t('retry.retry')}
      </Button>
      {step && (run.parameters ?? []).length > 0 && (
        <Button size="xs" variant="default" onClick={() => setRetrying('step')}>
          {t('retry.fromHereWith')}
        </Button>
      )}
      {retrying && <RetryDialog run={run} {...from} onClose={() => setRetrying(undefined)} onRetried={onRetried} />}
    </>
  );
}

// More names than this are a number.
const mostNames = 6;

/** What failed beside the cause, and what did not run because of it. */
function Consequences({ run, cause, onShow }: { run: Run; cause: RunNode; onShow: (nodeID: string) => void }) {
  const { t } = useTranslation();
  const nodes = (run.nodes ?? []) as RunNode[];
  const labels = stepLabels(nodes);
  const also = nodes.filter((node) => node.id !== cause.id && runsSomething(node) && isFailure(node.phase));
  const omitted = nodes.filter((node) => node.phase === 'Omitted').length;
  return (
    <>
      {also.length > 0 && (
        <div className={classes.cause}>
          <Text size="sm">{t('cause.also', { count: also.length })}</Text>
          {also.slice(0, mostNames).map((node) => (
            <Button key={node.id} size="compact-xs" variant="default" onClick={() => onShow(node.id)}>
              {labels.get(node.id)}
            </Button>
          ))}
          {also.length > mostNames && <Text size="sm">{t('runs.moreValues', { count: also.length - mostNames })}</Text>}
        </div>
      )}
      {omitted > 0 && <Text size="sm">{t('cause.omitted', { count: omitted })}</Text>}
    </>
  );
}

function LastLines({ lines }: { lines: string[] }) {
  const { t } = useTranslation();
  return (
    <>
      <Text size="sm" fw={550}>
        {t('run.lastLines')}
      </Text>
      <section className={classes.tail} tabIndex={0} aria-label={t('run.lastLines')}>
        {lines.length > 0 ? lines.join('\n') : t('log.emptyEnded')}
      </section>
    </>
  );
}

function LogTail({ runID, nodeID }: { runID: string; nodeID: string }) {
  const { t } = useTranslation();
  const { data, error } = useQuery({
    queryKey: ['run', runID, 'tail', nodeID],
    queryFn: ({ signal }) => readTail(logURL({ runID, nodeID }, { tail: tailLines }), signal),
  });
  if (data) return <LastLines lines={data} />;
  return <Text size="sm">{error ? `${t('log.failed')}: ${error.message}` : t('run.readingTail')}</Text>;
}

async function readTail(url: string, signal: AbortSignal): Promise<string[]> {
  const response = await fetch(url, { signal });
  const text = await response.text();
  if (!response.ok) throw problemOf(response.status, response.statusText, text);
  const lines = new Lines();
  lines.append(text);
  return lines.held().lines.slice(-tailLines).map(plain);
}
