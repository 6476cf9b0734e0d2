import { useTranslation } from 'react-i18next';
import { formatAmount } from './amount';
import classes from './Cluster.module.css';

interface UseBarProps {
  resource: string;
  used: number;
  /** Undefined: no limit. */
  of: number | undefined;
  /** Says who asks or has, for screen readers and on hover. */
  label: string;
}

/** How much of a resource is taken: a bar and the numbers. */
export function UseBar({ resource, used, of, label }: UseBarProps) {
  const { i18n } = useTranslation();
  const text = (value: number) => formatAmount(resource, value, i18n.language);
  const share = of ? Math.min(1, used / of) : 0;
  return (
    <div className={classes.use} title={label}>
      <span className={classes.numbers}>
        {text(used)}
        {of !== undefined && <span className={classes.of}> / {text(of)}</span>}
      </span>
      {of !== undefined && (
        <span className={classes.bar} role="img" aria-label={label}>
          <span style={{ width: `${share * 100}%` }} data-full={share >= 1 || undefined} />
        </span>
      )}
    </div>
  );
}
