import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { Duration, Time } from '../format/Duration';
import { isFinal } from '../status/status';
import classes from './RunPage.module.css';
import { ExperimentLink, PipelineLink } from './RunsTable';

/** What a reader wants to know of a run at a glance. */
export function RunSummary({ run }: { run: Run }) {
  const { t } = useTranslation();
  return (
    <div>
      {run.description && (
        <Text size="sm" c="dimmed" mb="sm" className="break">
          {run.description}
        </Text>
      )}
      <dl className={classes.summary}>
        <Item label={t('field.duration')}>
          {run.started_at ? (
            <Duration start={run.started_at} end={run.finished_at} live={!isFinal(run.status)} />
          ) : (
            t('run.notStarted')
          )}
        </Item>
        <Item label={t('field.experiment')}>
          <ExperimentLink run={run} />
        </Item>
        <Item label={t('field.pipeline')}>
          <PipelineLink run={run} />
        </Item>
        <Item label={t('field.started')}>
          <Time at={run.started_at ?? run.created_at} />
        </Item>
        {run.finished_at && (
          <Item label={t('field.finished')}>
            <Time at={run.finished_at} />
          </Item>
        )}
        {run.workflow?.name && (
          <Item label={t('field.workflow')}>
            <span className="mono break">
              {run.workflow.namespace}/{run.workflow.name}
            </span>
          </Item>
        )}
      </dl>
    </div>
  );
}

function Item({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
