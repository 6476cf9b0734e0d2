import { useTranslation } from 'react-i18next';
import type { Disk } from '../api/cluster';
import { formatAmount, shortName, type totals } from './amount';
import classes from './Cluster.module.css';
import { UseBar } from './UseBar';

interface TotalsProps {
  sums: ReturnType<typeof totals>;
  disk: Disk | undefined;
  className?: string;
}

/** What all nodes have together and how much of it pods ask for, and the room of the server's disk. */
export function Totals({ sums, disk, className = '' }: TotalsProps) {
  const { t, i18n } = useTranslation();
  return (
    <dl className={`${className} ${classes.totals}`} aria-label={t('cluster.whole')}>
      {sums.map(({ resource, requested, allocatable, capacity, free }) => {
        const text = (value: number) => formatAmount(resource, value, i18n.language);
        const values = { asked: text(requested), of: text(allocatable), free: text(free), has: text(capacity) };
        return (
          <div key={resource}>
            <dt>{resource === 'memory' || resource === 'pods' ? t(`cluster.${resource}`) : shortName(resource)}</dt>
            <dd>
              <UseBar resource={resource} used={requested} of={allocatable} label={t('cluster.use', values)} />
              <span className={classes.small}>{t('cluster.free', { amount: text(free) })}</span>
            </dd>
          </div>
        );
      })}
      {disk && <DiskUse total={disk.total ?? 0} free={disk.free ?? 0} />}
    </dl>
  );
}

function DiskUse({ total, free }: { total: number; free: number }) {
  const { t, i18n } = useTranslation();
  const text = (value: number) => formatAmount('storage', value, i18n.language);
  const label = t('cluster.diskUse', { used: text(total - free), of: text(total), free: text(free) });
  return (
    <div>
      <dt>{t('cluster.disk')}</dt>
      <dd>
        <UseBar resource="storage" used={total - free} of={total} label={label} />
        <span className={classes.small}>{t('cluster.free', { amount: text(free) })}</span>
      </dd>
    </div>
  );
}
