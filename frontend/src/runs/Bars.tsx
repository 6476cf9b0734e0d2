import { createContext, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { metricsNamed } from './metricColumns';

type Greatest = Record<string, number>;

// By context, as the pinned runs are.
const GreatestValues = createContext<Greatest | undefined>(undefined);

/** Gives a table the greatest value of each metric on its page; undefined for no bars. */
export const Bars = GreatestValues.Provider;

/** The greatest value of each metric, whatever its sign. */
export const greatestOf = (runs: Run[], names: string[]): Greatest =>
  Object.fromEntries(
    names.map((name) => [name, Math.max(...runs.map((run) => Math.abs(metricsNamed(run, name)[0]?.value ?? 0)))]),
  );

/** A value as a share of the greatest on the page. */
export function Bar({ name, value }: { name: string; value: number }) {
  const { t } = useTranslation();
  const greatest = useContext(GreatestValues)?.[name];
  if (!greatest || !Number.isFinite(value)) return null;
  const percent = Math.round((Math.abs(value) / greatest) * 100);
  const label = t('runs.share', { percent });
  return (
    <div role="img" aria-label={label} title={label} style={{ height: 4, marginTop: 4, background: 'var(--ar-line)' }}>
      <div
        style={{
          width: `${percent}%`,
          height: '100%',
          marginLeft: 'auto',
          background: value < 0 ? 'var(--ar-idle)' : 'var(--mantine-primary-color-filled)',
        }}
      />
    </div>
  );
}
