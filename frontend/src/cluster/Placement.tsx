import { useTranslation } from 'react-i18next';
import type { Worker } from '../api/cluster';
import classes from './Cluster.module.css';
import { placesOf } from './placement';

/** The nodes of a job with the pods on each, so that one sees which roles share a node. */
export function Placement({ workers }: { workers: Worker[] }) {
  const { t } = useTranslation();
  const places = placesOf(workers);
  if (places.length === 0) return null;
  return (
    <ul className={classes.places} aria-label={t('job.places')}>
      {places.map(({ node, workers: there }) => (
        <li key={node} className={classes.place}>
          <span className={classes.placeNode}>{node}</span>
          {there.map((worker) => (
            <span key={worker.pod} className={classes.pod} title={worker.pod}>
              {worker.role} {worker.index ?? 0}
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}
