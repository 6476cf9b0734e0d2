import { useTranslation } from 'react-i18next';
import type { Holder } from '../api/cluster';
import { TextLink } from '../app/links';
import { formatAmounts } from './amount';
import classes from './Cluster.module.css';

/** Who has pods, and what they ask for. */
export function Holders({ holders = [] }: { holders: Holder[] | undefined }) {
  const { t, i18n } = useTranslation();
  if (holders.length === 0) return <span className={`${classes.small} whole`}>{t('cluster.nobody')}</span>;
  return (
    <ul className={classes.holders}>
      {holders.map((holder) => (
        <li key={holder.run_id || holder.namespace}>
          {holder.run_id ? (
            <TextLink to="/runs/$runId" params={{ runId: holder.run_id }} className="name">
              {holder.run_name || holder.run_id}
            </TextLink>
          ) : (
            <span>{t('cluster.namespace', { namespace: holder.namespace })}</span>
          )}
          <span className={classes.small}>
            {[t('cluster.podCount', { count: holder.pods ?? 0 }), formatAmounts(holder.requested, i18n.language)]
              .filter(Boolean)
              .join(' · ')}
          </span>
        </li>
      ))}
    </ul>
  );
}
