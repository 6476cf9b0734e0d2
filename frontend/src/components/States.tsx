import { Badge, Chip, Progress } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { StateBadge } from '../cluster/StateBadge';
import { UseBar } from '../cluster/UseBar';
import { Ago } from '../format/Ago';
import { Duration } from '../format/Duration';
import { Labels } from '../runs/Labels';
import { LiveBadge } from '../runs/LiveBadge';
import { RunStrip } from '../schedules/RunStrip';
import { ScheduleState } from '../schedules/ScheduleState';
import { StatusBadge, StatusIcon } from '../status/StatusBadge';
import { runStatuses } from '../status/status';
import { Example, Section } from './Section';

const statuses = [...runStatuses, 'Skipped', 'Omitted'];
const states = ['Created', 'Suspended', 'Running', 'Completed', 'Failed', 'Terminating', 'Gone', 'Unknown'];
const schedule = { id: 's', name: 'nightly', enabled: true };

/** How runs, steps, jobs and schedules say what they are. */
export function States() {
  const { t } = useTranslation();
  const runs = runStatuses.map((status) => ({ id: status, name: `train-${status}`, status }));
  return (
    <Section title={t('components.states')} note={t('components.statesNote')}>
      <Example name="StatusBadge">
        {statuses.map((status) => (
          <StatusBadge key={status} phase={status} />
        ))}
      </Example>
      <Example name="StatusBadge plain">
        {statuses.map((status) => (
          <StatusBadge key={status} phase={status} plain />
        ))}
      </Example>
      <Example name="StatusIcon">
        {statuses.map((status) => (
          <StatusIcon key={status} phase={status} />
        ))}
      </Example>
      <Example name="StateBadge">
        {states.map((state) => (
          <StateBadge key={state} state={state} />
        ))}
      </Example>
      <Example name="ScheduleState">
        <ScheduleState job={schedule} />
        <ScheduleState job={{ ...schedule, enabled: false }} />
        <ScheduleState job={{ ...schedule, error: 'refused' }} />
        <ScheduleState job={{ ...schedule, status: 'Succeeded' }} />
      </Example>
      <Example name="LiveBadge">
        <LiveBadge liveness="connecting" />
        <LiveBadge liveness="live" />
        <LiveBadge liveness="retrying" />
      </Example>
      <Example name="RunStrip">
        <RunStrip runs={runs} empty={t('experiments.noRuns')} />
        <RunStrip runs={[]} empty={t('experiments.noRuns')} />
      </Example>
      <Example name="Labels">
        <Labels labels={{ team: 'vision', model: 'resnet-50' }} />
        <Labels labels={{}} />
      </Example>
      <Example name="Badge, Chip">
        <Badge variant="default">{t('pipeline.default')}</Badge>
        <Badge size="sm" variant="default" circle>
          3
        </Badge>
        <Chip size="xs" variant="outline" defaultChecked>
          {t('status.Failed')}
        </Chip>
        <Chip size="xs" variant="outline">
          {t('status.Succeeded')}
        </Chip>
      </Example>
      <Example name="UseBar, Progress">
        <UseBar resource="cpu" used={3} of={8} label="cpu" />
        <UseBar resource="cpu" used={8} of={8} label="cpu" />
        <Progress value={60} size="sm" w={160} aria-label="60%" />
      </Example>
      <Example name="Ago, Duration">
        <Ago at={Date.now() - 120_000} />
        <Duration start="2026-01-01T00:00:00Z" end="2026-01-01T00:03:20Z" live={false} />
        <Duration start={undefined} end={undefined} live={false} />
      </Example>
    </Section>
  );
}
