import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { clusterQuery } from '../api/cluster';
import { TextLink } from '../app/links';
import { totals } from '../cluster/amount';
import { Totals } from '../cluster/Totals';
import { Card } from './Card';
import classes from './Home.module.css';

/** What the cluster has, how much of it pods ask for, and which queues are in use. */
export function Capacity() {
  const { t } = useTranslation();
  const { data, error } = useQuery(clusterQuery);
  const busy = (data?.queues ?? []).filter(({ running, waiting = [] }) => running || waiting.length > 0);
  return (
    <Card title={t('home.capacity')}>
      {!data && (
        <Text size="sm" c="dimmed" role={error ? 'alert' : 'status'}>
          {error ? t('home.capacityFailed', { why: error.message }) : t('cluster.await')}
        </Text>
      )}
      {data && (
        <>
          <Totals sums={totals(data)} disk={data.disk} />
          {busy.length > 0 && (
            <ul className={classes.rows} aria-label={t('home.queues')}>
              {busy.map(({ name, running = 0, waiting = [] }) => (
                <li key={name}>{t('home.queue', { name, running, waiting: waiting.length })}</li>
              ))}
            </ul>
          )}
          <Text size="sm" mt={6}>
            <TextLink to="/cluster">{t('pages.cluster')}</TextLink>
          </Text>
        </>
      )}
    </Card>
  );
}
