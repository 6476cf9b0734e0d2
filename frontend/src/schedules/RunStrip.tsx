import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { TextLink } from '../app/links';
import { formatTime } from '../format/format';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';
import classes from './Schedules.module.css';

interface RunStripProps {
  /** The newest first. */
  runs: Run[];
  /** What to say when there are none. */
  empty: string;
  size?: number;
}

/** Runs as a strip of states, the newest on the right; each leads to its run. */
export function RunStrip({ runs, empty, size = 18 }: RunStripProps) {
  if (runs.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {empty}
      </Text>
    );
  }
  return (
    <ul className={classes.strip}>
      {runs.toReversed().map((run) => (
        <li key={run.id}>
          <RunMark run={run} size={size} />
        </li>
      ))}
    </ul>
  );
}

function RunMark({ run, size }: { run: Run; size: number }) {
  const { i18n } = useTranslation();
  const label = `${run.name}: ${useStatusWord()(run.status)}`;
  const at = formatTime(run.scheduled_at ?? run.created_at, i18n.language);
  return (
    <TextLink
      to="/runs/$runId"
      params={{ runId: run.id }}
      aria-label={label}
      title={at ? `${label}\n${at}` : label}
      className={classes.mark}
    >
      <StatusIcon phase={run.status} size={size} />
    </TextLink>
  );
}
