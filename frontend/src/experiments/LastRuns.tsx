import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Page, Run } from '../api/client';
import { RunStrip } from '../schedules/RunStrip';

const shown = 5;

interface LastRunsProps {
  experimentID: string;
  /** The newest runs of all experiments of the list; undefined while they are read. */
  newest: Page<Run> | undefined;
}

/** The statuses of an experiment's newest runs. */
export function LastRuns({ experimentID, newest }: LastRunsProps) {
  const { t } = useTranslation();
  if (!newest) {
    return (
      <Text size="sm" c="dimmed">
        …
      </Text>
    );
  }
  const mine = newest.items.filter((run) => run.experiment?.id === experimentID).slice(0, shown);
  // Where the page of runs was full, older ones may be on the next.
  return <RunStrip runs={mine} empty={newest.next ? t('experiments.olderRuns') : t('experiments.noRuns')} size={20} />;
}
