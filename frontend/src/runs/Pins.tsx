import { ActionIcon, Text } from '@mantine/core';
import { IconPin, IconPinFilled } from '@tabler/icons-react';
import { createContext, useContext } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { formatMetric } from '../format/format';
import { metricsNamed } from './metricColumns';

interface Pinned {
  pins: string[];
  /** The run that others are compared with: the first that is pinned. */
  baseline?: Run;
  onPin: (ids: string[]) => void;
}

// By context, as the choice of runs is.
const PinnedRuns = createContext<Pinned>({ pins: [], onPin: () => {} });

/** Gives a table the runs that stay on top. */
export const Pins = PinnedRuns.Provider;

/** Pins a run to the top of the list, or lets it go. */
export function PinButton({ run: { id, name } }: { run: Run }) {
  const { t } = useTranslation();
  const { pins, onPin } = useContext(PinnedRuns);
  const on = pins.includes(id);
  const label =
    pins[0] === id ? t('pins.baseline', { name }) : on ? t('pins.unpin', { name }) : t('pins.pin', { name });
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      color={on ? undefined : 'gray'}
      aria-label={label}
      aria-pressed={on}
      title={label}
      onClick={() => onPin(on ? pins.filter((other) => other !== id) : [...pins, id])}
    >
      {on ? <IconPinFilled size={15} aria-hidden /> : <IconPin size={15} aria-hidden />}
    </ActionIcon>
  );
}

/** How far a metric is from that of the baseline. */
export function Delta({ run, name }: { run: Run; name: string }) {
  const { t, i18n } = useTranslation();
  const { baseline } = useContext(PinnedRuns);
  const value = metricsNamed(run, name)[0];
  const base = baseline && metricsNamed(baseline, name)[0];
  if (!value || !base || run.id === baseline.id) return null;
  const away = value.value - base.value;
  const text = `${away > 0 ? '+' : away < 0 ? '−' : '±'}${formatMetric(Math.abs(away), value.format, i18n.language)}`;
  return (
    <Text span size="xs" c="dimmed" title={t('pins.against', { name: baseline.name })} style={{ whiteSpace: 'nowrap' }}>
      {text}
    </Text>
  );
}
