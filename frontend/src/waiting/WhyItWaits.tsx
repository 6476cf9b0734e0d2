import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { clusterQuery, type Pending, pendingQuery } from '../api/cluster';
import { TextLink } from '../app/links';
import classes from '../cluster/Cluster.module.css';
import { MissingRights } from '../cluster/MissingRights';
import { Gangs } from '../cluster/QueuesTable';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { Ago } from '../format/Ago';
import { Time } from '../format/Duration';
import { AskedTable } from './AskedTable';
import { type Place, placeInQueue } from './place';

/** Why a step waits: what it asks for and what is free, who holds it, its place in the queue, since when and until when. */
export function WhyItWaits({ run, node }: { run: Run; node: RunNode }) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(pendingQuery(run));
  const pending = data?.pending?.find(({ node_id }) => node_id === node.id);
  const asks = (pending?.resources ?? []).length > 0;
  const { data: cluster } = useQuery({ ...clusterQuery, enabled: asks });
  const what = t('pending.await');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Awaiting what={what} rows={4} />;
  if (!pending) {
    return (
      <Text size="sm" c="dimmed" p="md" role="status">
        {t('pending.over')}
      </Text>
    );
  }
  const place = cluster && placeInQueue(cluster, run.id, pending);
  return (
    <section aria-label={t('pending.title')} className={classes.section}>
      <Facts pending={pending} place={place} />
      <div className={classes.note}>
        <MissingRights missing={data.missing} />
      </div>
      {place && place.before.length > 0 && (
        <div className={classes.note}>
          <Title order={3} size="h6" pb={4}>
            {t('pending.before')}
          </Title>
          <Gangs gangs={place.before} />
        </div>
      )}
      {asks && <AskedTable resources={pending.resources ?? []} cluster={cluster} runID={run.id} />}
      <div className={classes.note}>
        <TextLink to="/cluster" fz="sm">
          {t('pages.cluster')}
        </TextLink>
      </div>
    </section>
  );
}

function Facts({ pending, place }: { pending: Pending; place: Place | undefined }) {
  const { t } = useTranslation();
  const { since, until, until_by, told_by, pods, cause } = pending;
  const limits: Record<string, string> = t('pending.untilBy', { returnObjects: true });
  return (
    <dl className={classes.facts}>
      <Fact label={t('pending.since')}>
        <Time at={since} /> (<Ago at={since} />)
      </Fact>
      <Fact label={t('pending.until')}>
        {until ? (
          <>
            <Time at={until} /> ({limits[until_by ?? ''] ?? until_by})
          </>
        ) : (
          t('pending.endless')
        )}
      </Fact>
      {place && (
        <Fact label={t('pending.place')}>
          {t('pending.placeIs', { place: place.before.length + 1, count: place.count, queue: place.queue })}
        </Fact>
      )}
      {Boolean(pods) && <Fact label={t('pending.pods')}>{pods}</Fact>}
      {told_by && (
        <Fact label={t('pending.toldBy')}>
          <span className="break">{`${told_by.kind} ${told_by.name}`}</span>
        </Fact>
      )}
      <Fact label={t('pending.cause')}>
        <code>{cause}</code>
      </Fact>
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
