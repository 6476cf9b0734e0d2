import { useTranslation } from 'react-i18next';
import type { Liveness } from '../api/useLiveRun';
import classes from './RunPage.module.css';

/** Says whether what is shown follows the run; a run that has ended needs no word. */
export function LiveBadge({ liveness }: { liveness: Liveness }) {
  const { t } = useTranslation();
  if (liveness === 'ended') return null;
  return (
    <span className={classes.live} title={t(`run.${liveness}Hint`)} role="status">
      <span className={classes.dot} data-live={liveness} />
      {t(`run.${liveness}`)}
    </span>
  );
}
