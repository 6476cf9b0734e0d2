import { Button, Text } from '@mantine/core';
import { IconCircleXFilled } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { problemOf } from '../api/problem';
import { logURL } from '../api/runs';
import { stepName } from '../graph/model';
import { Lines, plain } from '../logs/lines';
import { isFailure } from '../status/status';
import { failedNode, runsSomething } from './focusNode';
import classes from './RunPage.module.css';

// As many last lines as usually hold a traceback's end.
const tailLines = 12;

/** Says why a run failed: the step, its exit code, the cause, and the last lines that it printed. */
export function FailureBanner({ run, onShowLog }: { run: Run; onShowLog: (nodeID: string) => void }) {
  const { t } = useTranslation();
  if (!isFailure(run.status)) return null;
  const node = failedNode(run);
  // A launcher puts the command's last lines below its cause: better ones than the log's own, which end with the launcher's.
  const [cause, ...printed] = (node?.message ?? '').trimEnd().split('\n');
  // The run's error often repeats what its step says.
  const causes = [...new Set([cause, run.error].filter((text) => text?.trim()))];
  const title = !node
    ? t('run.failedTitle')
    : node.exit_code
      ? t('run.failedStepExit', { step: stepName(node), code: node.exit_code })
      : t('run.failedStep', { step: stepName(node) });
  return (
    <section className={classes.banner} aria-label={t('run.failedTitle')}>
      <h2 className={classes.bannerTitle}>
        <IconCircleXFilled size={20} aria-hidden />
        {title}
      </h2>
      {causes.map((text) => (
        <Text key={text} size="sm" className="break" style={{ whiteSpace: 'pre-wrap' }}>
          {text}
        </Text>
      ))}
      {printed.length > 0 && <LastLines lines={printed} />}
      {node && runsSomething(node) && (
        <>
          {printed.length === 0 && <LogTail runID={run.id} nodeID={node.id} />}
          <Button size="xs" variant="default" style={{ alignSelf: 'flex-start' }} onClick={() => onShowLog(node.id)}>
            {t('run.showLog')}
          </Button>
        </>
      )}
    </section>
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
    queryFn: ({ signal }) => readTail(logURL(runID, nodeID), signal),
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
  return lines.snapshot().slice(-tailLines).map(plain);
}
