import { Skeleton } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../api/problem';
import { ButtonLink } from '../app/links';
import { MissingRights } from '../cluster/MissingRights';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { Warnings } from '../runs/Warnings';
import { NoMatch } from '../table/NoMatch';
import { Example, Section } from './Section';

/** What stands in the place of an answer: not there yet, nothing, or a fault. */
export function Answers() {
  const { t } = useTranslation();
  const what = t('await.runs');
  return (
    <Section title={t('components.answers')} note={t('components.answersNote')}>
      <Example name="Awaiting" wide>
        <Awaiting what={what} />
      </Example>
      <Example name="Skeleton" wide>
        <Skeleton height={20} width="60%" animate={false} />
      </Example>
      <Example name="Empty" wide>
        <Empty icon={<IconPlayerPlay aria-hidden />} title={t('runs.emptyTitle')} text={t('runs.emptyText')}>
          <ButtonLink to="/runs/new">{t('runs.createRun')}</ButtonLink>
        </Empty>
      </Example>
      <Example name="NoMatch" wide>
        <NoMatch onClear={() => undefined} />
      </Example>
      <Example name="Failure" wide>
        <Failure
          title={t('failure.title', { what })}
          error={new Problem(400, 'page_size is 500; it must be at most 200', 'runs.go:42')}
          onRetry={() => undefined}
        />
        <Failure
          title={t('failure.title', { what })}
          error={new Problem(0, 'fetch failed')}
          onRetry={() => undefined}
        />
      </Example>
      <Example name="Warnings, MissingRights" wide>
        <Warnings warnings={['step train left no metrics: mlpipeline-metrics.json is empty']} />
        <MissingRights missing={[{ verb: 'list', resource: 'nodes', namespace: '' }]} />
      </Example>
    </Section>
  );
}
