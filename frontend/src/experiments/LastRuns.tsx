import { Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { lastRunsQuery, recentRunsQuery } from '../api/runs';
import { TextLink } from '../app/links';
import { StatusIcon, useStatusWord } from '../status/StatusBadge';

const shown = 5;

/** The statuses of an experiment's newest runs. */
export function LastRuns({ experimentID }: { experimentID: string }) {
  const { t } = useTranslation();
  // One call serves all rows of the page; only an experiment whose runs are older than what it gave asks for its own.
  const recent = useQuery(recentRunsQuery);
  const mine = recent.data?.items.filter((run) => run.experiment?.id === experimentID).slice(0, shown);
  const complete = mine && (mine.length === shown || !recent.data?.next);
  const own = useQuery({ ...lastRunsQuery(experimentID, shown), enabled: recent.isSuccess && !complete });
  const runs = complete ? mine : own.data;

  if (recent.error || own.error) {
    return (
      <Text size="sm" c="var(--ar-bad)">
        {(recent.error ?? own.error)?.message}
      </Text>
    );
  }
  if (!runs)
    return (
      <Text size="sm" c="dimmed">
        …
      </Text>
    );
  if (runs.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('experiments.noRuns')}
      </Text>
    );
  }
  return (
    <Group gap={6} wrap="nowrap">
      {runs.map((run) => (
        <RunIcon key={run.id} run={run} />
      ))}
    </Group>
  );
}

function RunIcon({ run }: { run: Run }) {
  const label = `${run.name}: ${useStatusWord()(run.status)}`;
  return (
    <TextLink
      to="/runs/$runId"
      params={{ runId: run.id }}
      aria-label={label}
      title={label}
      style={{ display: 'flex', padding: 3 }}
    >
      <StatusIcon phase={run.status} size={20} />
    </TextLink>
  );
}
