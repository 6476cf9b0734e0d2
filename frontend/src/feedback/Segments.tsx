import { type ReactNode, useId } from 'react';
import classes from './Segments.module.css';

interface SegmentsProps<T extends string> {
  'aria-label': string;
  value: T;
  data: { value: T; label: ReactNode }[];
  /** As wide as there is room, for the dark ground of the navigation. */
  on?: 'dark';
  onChange: (value: T) => void;
}

/** One of a few choices, side by side. */
export function Segments<T extends string>({ value, data, on, onChange, ...rest }: SegmentsProps<T>) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={rest['aria-label']} className={classes.root} data-on={on}>
      {data.map((one) => (
        <label key={one.value} className={classes.segment}>
          <input type="radio" name={name} checked={one.value === value} onChange={() => onChange(one.value)} />
          {one.label}
        </label>
      ))}
    </div>
  );
}
