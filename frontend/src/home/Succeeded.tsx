import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Metric, Run } from '../api/client';
import { homeRows } from '../api/home';
import { Ago } from '../format/Ago';
import { elapsed, formatDuration, formatMetric } from '../format/format';
import { Rows } from './Card';
import classes from './Home.module.css';
import { RunLink } from './RunLink';

/** The runs that succeeded last among the newest, with the time that they took and what they measured. */
export function Succeeded({ recent }: { recent: Run[] }) {
  const { t } = useTranslation();
  const ended = ({ finished_at }: Run) => Date.parse(finished_at ?? '') || 0;
  const runs = recent
    .filter(({ status }) => status === 'Succeeded')
    .sort((a, b) => ended(b) - ended(a))
    .slice(0, homeRows);
  return (
    <Rows title={t('home.succeeded')} empty={runs.length === 0 && t('home.noneSucceeded')}>
      {runs.map((run) => (
        <li key={run.id}>
          <div className={classes.line}>
            <RunLink run={run} />
            <Text size="xs" c="dimmed">
              <Ago at={run.finished_at ?? run.created_at} />
            </Text>
          </div>
          <div className={classes.line}>
            <Took run={run} />
            <Measured run={run} />
          </div>
        </li>
      ))}
    </Rows>
  );
}

function Took({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const ms = elapsed(run.started_at, run.finished_at, 0) ?? 0;
  return (
    <Text size="xs" c="dimmed">
      {t('home.took', { time: formatDuration(ms, i18n.language) })}
    </Text>
  );
}

function Measured({ run }: { run: Run }) {
  const { t, i18n } = useTranslation();
  const [metric] = (run.metrics ?? []) as Metric[];
  if (!metric) return null;
  const value = formatMetric(metric.value, metric.format, i18n.language);
  return (
    <Text size="xs" fw={620}>
      {t('home.speed', { name: metric.name, value })}
    </Text>
  );
}
