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
  // The run's error often repeats what its step says.
  const causes = [...new Set([node?.message, run.error].filter((text) => text?.trim()))];
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
      {causes.map((cause) => (
        <Text key={cause} size="sm" className="break" style={{ whiteSpace: 'pre-wrap' }}>
          {cause}
        </Text>
      ))}
      {node && runsSomething(node) && <Tail runID={run.id} nodeID={node.id} onShowLog={() => onShowLog(node.id)} />}
    </section>
  );
}

function Tail({ runID, nodeID, onShowLog }: { runID: string; nodeID: string; onShowLog: () => void }) {
  const { t } = useTranslation();
  const { data, isPending, error } = useQuery({
    queryKey: ['run', runID, 'tail', nodeID],
    queryFn: ({ signal }) => readTail(logURL(runID, nodeID), signal),
  });
  return (
    <>
      <Text size="sm" fw={550}>
        {t('run.lastLines')}
      </Text>
      {isPending && <Text size="sm">{t('run.readingTail')}</Text>}
      {error && (
        <Text size="sm">
          {t('log.failed')}: {error.message}
        </Text>
      )}
      {data && (
        <section className={classes.tail} tabIndex={0} aria-label={t('run.lastLines')}>
          {data.length > 0 ? data.join('\n') : t('log.emptyEnded')}
        </section>
      )}
      <Button size="xs" variant="default" style={{ alignSelf: 'flex-start' }} onClick={onShowLog}>
        {t('run.showLog')}
      </Button>
    </>
  );
}

async function readTail(url: string, signal: AbortSignal): Promise<string[]> {
  const response = await fetch(url, { signal });
  const text = await response.text();
  if (!response.ok) throw problemOf(response.status, response.statusText, text);
  const lines = new Lines();
  lines.append(text);
  return lines.snapshot().slice(-tailLines).map(plain);
}
