import { Title } from '@mantine/core';
import { IconServer2 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Cluster, clusterQuery, type Holder } from '../api/cluster';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { FilterBar } from '../table/ListControls';
import { NoMatch } from '../table/NoMatch';
import { totals } from './amount';
import classes from './Cluster.module.css';
import { Holders } from './Holders';
import { MissingRights } from './MissingRights';
import { NodesTable } from './NodesTable';
import { QueuesTable } from './QueuesTable';
import { Totals } from './Totals';

const route = getRouteApi('/cluster');

/** What the cluster has, what is free, who holds the rest, and who waits. */
export function ClusterPage() {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(clusterQuery);
  return (
    <Page title={t('pages.cluster')}>
      {error && (
        <Failure
          title={t('failure.title', { what: t('cluster.await') })}
          error={error}
          onRetry={() => void refetch()}
        />
      )}
      {isPending && <Awaiting what={t('cluster.await')} rows={8} />}
      {data && (
        <>
          <MissingRights missing={data.missing} />
          {(data.nodes ?? []).length === 0 && (data.missing ?? []).length === 0 && (
            <Empty icon={<IconServer2 aria-hidden />} title={t('cluster.emptyTitle')} text={t('cluster.emptyText')} />
          )}
          {(data.nodes ?? []).length > 0 && <Nodes cluster={data} />}
          {(data.waiting ?? []).length > 0 && <Unplaced holders={data.waiting ?? []} />}
          {(data.queues ?? []).length > 0 && (
            <section className={classes.section} aria-label={t('cluster.queues')}>
              <Title order={2} size="h5">
                {t('cluster.queues')}
              </Title>
              <QueuesTable queues={data.queues ?? []} />
            </section>
          )}
        </>
      )}
    </Page>
  );
}

function Nodes({ cluster }: { cluster: Cluster }) {
  const { t } = useTranslation();
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = (text: string | undefined) => void navigate({ search: { q: text }, replace: true });
  const sums = totals(cluster);
  const words = (q ?? '').toLowerCase();
  const names = (holders: Holder[] = []) => holders.map(({ run_name, namespace }) => run_name || namespace || '');
  const nodes = (cluster.nodes ?? []).filter((node) =>
    [node.name ?? '', ...names(node.holders)].some((name) => name.toLowerCase().includes(words)),
  );
  return (
    <>
      <Totals sums={sums} disk={cluster.disk} className={`panel ${classes.padded}`} />
      <section className={classes.section} aria-label={t('cluster.nodes')}>
        <Title order={2} size="h5">
          {t('cluster.nodesCount', { count: cluster.nodes?.length ?? 0 })}
        </Title>
        {(cluster.nodes ?? []).length > 1 && <FilterBar q={q} onFilter={filter} />}
        {nodes.length > 0 ? (
          <NodesTable nodes={nodes} resources={sums} />
        ) : (
          <NoMatch onClear={() => filter(undefined)} />
        )}
      </section>
    </>
  );
}

function Unplaced({ holders }: { holders: Holder[] }) {
  const { t } = useTranslation();
  return (
    <section className={classes.section} aria-label={t('cluster.unplaced')}>
      <Title order={2} size="h5">
        {t('cluster.unplaced')}
      </Title>
      <div className={`panel ${classes.totals} ${classes.padded}`}>
        <Holders holders={holders} />
      </div>
    </section>
  );
}
