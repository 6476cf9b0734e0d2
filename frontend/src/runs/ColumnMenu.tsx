import { Button, Menu, ScrollArea } from '@mantine/core';
import { IconCheck, IconColumns3 } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { runFieldsQuery } from '../api/runs';
import { figureName, figuresOf } from '../api/search';
import { useOpenAtOnce } from '../feedback/useOpenAtOnce';

interface ColumnMenuProps {
  /** Metrics of the runs on the page. */
  met: string[];
  metrics: string[];
  params: string[];
  bars: boolean;
  onBars: (shown: boolean | undefined) => void;
  labels: boolean;
  onLabels: (shown: boolean | undefined) => void;
  onMetrics: (chosen: string[] | undefined) => void;
  onParams: (chosen: string[] | undefined) => void;
}

/** Chooses the metrics and parameters that have columns, and whether labels have one and metrics have bars. */
export default function ColumnMenu({
  met,
  metrics,
  params,
  bars,
  onBars,
  labels,
  onLabels,
  onMetrics,
  onParams,
}: ColumnMenuProps) {
  const { t } = useTranslation();
  const [opened, setOpened] = useOpenAtOnce();
  const fields = useQuery({ ...runFieldsQuery, enabled: opened });
  // A column may be chosen although no run on this page has it.
  const named = metrics.filter((name) => !figureName.test(name));
  const offeredMetrics = [...new Set([...met, ...named, ...(fields.data?.metrics ?? [])])];
  const curves = [
    ...new Set([...metrics.flatMap((name) => figureName.exec(name)?.[2] ?? []), ...(fields.data?.curves ?? [])]),
  ];
  const offeredParams = [...new Set([...params, ...(fields.data?.parameters ?? [])])];
  const flip = (all: string[], name: string) =>
    all.includes(name) ? all.filter((other) => other !== name) : [...all, name];
  return (
    <Menu closeOnItemClick={false} opened={opened} onChange={setOpened} width={260}>
      <Menu.Target>
        <Button autoFocus variant="default" leftSection={<IconColumns3 size={16} aria-hidden />}>
          {t('runs.columns')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <ScrollArea.Autosize mah={420} type="auto">
          <Choice name={t('field.labels')} on={labels} onFlip={() => onLabels(!labels || undefined)} />
          <Menu.Divider />
          <Menu.Label>{offeredMetrics.length > 0 ? t('runs.metricColumns') : t('runs.noMetrics')}</Menu.Label>
          {offeredMetrics.map((name) => (
            <Choice key={name} name={name} on={metrics.includes(name)} onFlip={() => onMetrics(flip(metrics, name))} />
          ))}
          {curves.length > 0 && <Menu.Label>{t('runs.curveColumns')}</Menu.Label>}
          {curves.flatMap(figuresOf).map((name) => (
            <Choice key={name} name={name} on={metrics.includes(name)} onFlip={() => onMetrics(flip(metrics, name))} />
          ))}
          {offeredMetrics.length > 0 && (
            <Choice name={t('runs.bars')} on={bars} onFlip={() => onBars(!bars || undefined)} />
          )}
          {offeredMetrics.length > 0 && (
            <Menu.Item onClick={() => onMetrics(undefined)}>{t('runs.showAllMetrics')}</Menu.Item>
          )}
          {offeredParams.length > 0 && (
            <>
              <Menu.Divider />
              <Menu.Label>{t('run.parameters')}</Menu.Label>
            </>
          )}
          {offeredParams.map((name) => (
            <Choice key={name} name={name} on={params.includes(name)} onFlip={() => onParams(flip(params, name))} />
          ))}
        </ScrollArea.Autosize>
      </Menu.Dropdown>
    </Menu>
  );
}

function Choice({ name, on, onFlip }: { name: string; on: boolean; onFlip: () => void }) {
  return (
    <Menu.Item
      role="menuitemcheckbox"
      aria-checked={on}
      leftSection={<IconCheck size={16} aria-hidden style={{ opacity: on ? 1 : 0 }} />}
      className="break"
      onClick={onFlip}
    >
      {name}
    </Menu.Item>
  );
}
