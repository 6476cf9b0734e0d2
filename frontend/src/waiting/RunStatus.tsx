import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { StatusBadge } from '../status/StatusBadge';
import { shownStatus } from '../status/status';
import { useSentence } from './useSentence';

/** What a run waits for, in the reader's language; empty when it does not wait. */
export function useWaits() {
  const { t } = useTranslation();
  const sentence = useSentence();
  return ({ waiting, status }: Run): string => {
    if (!waiting || shownStatus({ waiting, status }) !== 'Waiting') return '';
    const others = (waiting.steps ?? 1) - 1;
    const why = t('runs.waits', { step: waiting.step ?? '', why: sentence(waiting.why) });
    return others > 0 ? `${why} ${t('runs.waitsMore', { count: others })}` : why;
  };
}

/** The status of a run in a list; of one that waits also what for. */
export function RunStatus({ run }: { run: Run }) {
  const waits = useWaits()(run);
  return (
    <>
      <StatusBadge phase={shownStatus(run)} />
      {waits && (
        <Text size="xs" c="dimmed" className="break" lineClamp={3} maw={320} title={waits}>
          {waits}
        </Text>
      )}
    </>
  );
}
