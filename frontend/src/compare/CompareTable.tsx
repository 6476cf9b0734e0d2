import { Button, Group, Text, UnstyledButton } from '@mantine/core';
import { IconStarFilled } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import type { Comparison } from '../api/compare';
import { TextLink } from '../app/links';
import { Duration } from '../format/Duration';
import { formatMetric, numberFormat } from '../format/format';
import { StatusBadge } from '../status/StatusBadge';
import { isFinal, shownStatus } from '../status/status';
import classes from './Compare.module.css';
import type { CompareSearch } from './compareSearch';
import { best, least, metricKey, shownParameters, valuesOf } from './measure';
import { look } from './scale';

interface CompareTableProps {
  comparison: Comparison;
  search: CompareSearch;
  base: string;
  onChange: (patch: CompareSearch) => void;
}

/** Runs as columns; metrics with the best marked and the distance from the baseline, and parameters. */
export function CompareTable({ comparison, search, base, onChange }: CompareTableProps) {
  const { t } = useTranslation();
  const { runs } = comparison;
  const q = search.q ?? '';
  const metrics = (comparison.metrics ?? []).filter((metric) =>
    metricKey(metric).toLowerCase().includes(q.toLowerCase()),
  );
  const parameters = shownParameters(comparison.parameters ?? [], search.all ?? false, q);
  const cells = (content: (run: Run) => ReactNode) =>
    runs.map((run) => (
      <td key={run.id} data-base={run.id === base || undefined}>
        {content(run)}
      </td>
    ));
  return (
    <section className={`panel ${classes.scroll}`} tabIndex={0} aria-label={t('compare.table')}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t('field.name')}</th>
            {runs.map((run, i) => (
              <th key={run.id} scope="col">
                <RunHead run={run} number={i + 1} base={run.id === base} onBase={() => onChange({ base: run.id })} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{t('field.status')}</th>
            {cells((run) => (
              <StatusBadge phase={shownStatus(run)} />
            ))}
          </tr>
          <tr>
            <th scope="row">{t('field.duration')}</th>
            {cells((run) => (
              <Duration start={run.started_at} end={run.finished_at} live={!isFinal(run.status)} />
            ))}
          </tr>
          <GroupRow
            title={t('run.metrics')}
            empty={metrics.length === 0 && t('compare.noMetrics')}
            span={runs.length}
          />
          {metrics.map((metric) => (
            <tr key={metricKey(metric)}>
              <th scope="row">
                {metric.name}
                <Text size="xs" c="dimmed">
                  {metric.step_name}
                </Text>
                <Turn
                  lowest={least(metric, search.turned ?? [])}
                  onTurn={() => onChange({ turned: flipped(search.turned ?? [], metricKey(metric)) })}
                  name={metric.name ?? ''}
                />
              </th>
              <MetricCells metric={metric} lowest={least(metric, search.turned ?? [])} runs={runs} base={base} />
            </tr>
          ))}
          <GroupRow
            title={t('run.parameters')}
            empty={parameters.length === 0 && (q ? t('list.noneText') : t('compare.sameParameters'))}
            span={runs.length}
          />
          {parameters.map(({ name, values }) => {
            const by = new Map(values?.map(({ run_id, value }) => [run_id, value]));
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                {cells((run) => (
                  <span className="mono" style={{ fontWeight: by.get(run.id) === by.get(base) ? undefined : 650 }}>
                    {by.get(run.id) || t('field.none')}
                  </span>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

const flipped = (all: string[], one: string) => {
  const next = all.includes(one) ? all.filter((other) => other !== one) : [...all, one];
  return next.length > 0 ? next : undefined;
};

function GroupRow({ title, empty, span }: { title: string; empty: string | false; span: number }) {
  return (
    <tr className={classes.group}>
      <th scope="rowgroup">{title}</th>
      <td colSpan={span}>{empty}</td>
    </tr>
  );
}

interface RunHeadProps {
  run: Run;
  number: number;
  base: boolean;
  onBase: () => void;
}

function RunHead({ run, number, base, onBase }: RunHeadProps) {
  const { t } = useTranslation();
  const { colour, dash } = look(number - 1);
  return (
    <>
      <Group gap={6} wrap="nowrap">
        <span
          className={classes.key}
          aria-hidden
          style={{ borderColor: colour, borderTopStyle: dash ? 'dashed' : 'solid' }}
        />
        <Text span size="xs" c="dimmed">
          {number}
        </Text>
      </Group>
      <TextLink to="/runs/$runId" params={{ runId: run.id }} className="name" display="inline-block" mih={24}>
        {run.name}
      </TextLink>
      <div>
        {base ? (
          <Text span size="xs" fw={650}>
            {t('compare.baseline')}
          </Text>
        ) : (
          <Button
            variant="transparent"
            size="compact-xs"
            mih={26}
            px={0}
            aria-label={`${t('compare.makeBaseline')}: ${run.name}`}
            onClick={onBase}
          >
            {t('compare.makeBaseline')}
          </Button>
        )}
      </div>
    </>
  );
}

/** Says which end of a metric is the best, and turns it round. */
function Turn({ lowest, name, onTurn }: { lowest: boolean; name: string; onTurn: () => void }) {
  const { t } = useTranslation();
  const word = lowest ? t('compare.lowestBest') : t('compare.highestBest');
  return (
    <UnstyledButton
      fz="xs"
      c="var(--mantine-color-anchor)"
      mih={24}
      title={t('compare.turn')}
      aria-label={`${name}: ${word}. ${t('compare.turn')}`}
      onClick={onTurn}
    >
      {word}
    </UnstyledButton>
  );
}

interface MetricCellsProps {
  metric: NonNullable<Comparison['metrics']>[number];
  lowest: boolean;
  runs: Run[];
  base: string;
}

function MetricCells({ metric, lowest, runs, base }: MetricCellsProps) {
  const { t, i18n } = useTranslation();
  const values = valuesOf(metric);
  const top = best(values.values(), lowest);
  const from = values.get(base);
  const percent = numberFormat(i18n.language, {
    style: 'percent',
    maximumFractionDigits: 1,
    signDisplay: 'exceptZero',
  });
  return runs.map((run) => {
    const value = values.get(run.id);
    const text = value === undefined ? t('field.none') : formatMetric(value, metric.format, i18n.language);
    const away =
      value !== undefined && from && run.id !== base ? percent.format((value - from) / Math.abs(from)) : undefined;
    return (
      <td key={run.id} data-base={run.id === base || undefined}>
        {value !== undefined && value === top ? (
          <span className={classes.best}>
            <IconStarFilled size={12} role="img" aria-label={t('compare.best')} />
            {text}
          </span>
        ) : (
          text
        )}
        {away && <span className={classes.difference}>{away}</span>}
      </td>
    );
  });
}
