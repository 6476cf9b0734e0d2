import { Text, UnstyledButton } from '@mantine/core';
import { IconStarFilled } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import type { ComparedMetric, ComparedParameter, Comparison } from '../api/compare';
import { TextLink } from '../app/links';
import { Duration } from '../format/Duration';
import { formatMetric, numberFormat } from '../format/format';
import { PipelineLink } from '../runs/runColumns';
import { StatusBadge } from '../status/StatusBadge';
import { isFinal, shownStatus } from '../status/status';
import classes from './Compare.module.css';
import type { CompareSearch } from './compareSearch';
import { best, least, metricKey, shownParameters, valuesOf } from './measure';

/** Something that is told of each run: a row of the comparison, or a column where runs are the rows. */
export interface Fact {
  key: string;
  head: ReactNode;
  cell: (run: Run) => ReactNode;
}

/** Facts under one heading. */
export interface FactGroup {
  title: string;
  facts: Fact[];
  /** What is said where there are none. */
  empty: string;
}

interface FactsProps {
  comparison: Comparison;
  search: CompareSearch;
  base: string;
  onChange: (patch: CompareSearch) => void;
}

/** What a comparison tells of its runs: some facts without a heading, the metrics, and the parameters. */
export function useFacts({ comparison, search, base, onChange }: FactsProps): { first: Fact[]; groups: FactGroup[] } {
  const { t } = useTranslation();
  const q = search.q ?? '';
  const metrics = (comparison.metrics ?? []).filter((metric) =>
    metricKey(metric).toLowerCase().includes(q.toLowerCase()),
  );
  const parameters = shownParameters(comparison.parameters ?? [], search.all ?? false, q);
  const baseline = comparison.runs.find(({ id }) => id === base);
  const first: Fact[] = [
    { key: 'status', head: t('field.status'), cell: (run) => <StatusBadge phase={shownStatus(run)} /> },
    {
      key: 'duration',
      head: t('field.duration'),
      cell: (run) => <Duration start={run.started_at} end={run.finished_at} live={!isFinal(run.status)} />,
    },
  ];
  if (comparison.runs.some(({ pipeline }) => pipeline?.version_id)) {
    first.push({
      key: 'version',
      head: t('field.version'),
      cell: (run) => <Version run={run} baseline={baseline} />,
    });
  }
  return {
    first,
    groups: [
      {
        title: t('run.metrics'),
        empty: t('compare.noMetrics'),
        facts: metrics.map((metric) => metricFact(metric, search.turned ?? [], base, onChange)),
      },
      {
        title: t('run.parameters'),
        empty: q ? t('list.noneText') : t('compare.sameParameters'),
        facts: parameters.map((parameter) => parameterFact(parameter, base)),
      },
    ],
  };
}

function metricFact(
  metric: ComparedMetric,
  turned: string[],
  base: string,
  onChange: (patch: CompareSearch) => void,
): Fact {
  const key = metricKey(metric);
  const lowest = least(metric, turned);
  const values = valuesOf(metric);
  const top = best(values.values(), lowest);
  return {
    key: `metric:${key}`,
    head: (
      <>
        {metric.name}
        <Text size="xs" c="dimmed">
          {metric.step_name}
        </Text>
        <Turn lowest={lowest} onTurn={() => onChange({ turned: flipped(turned, key) })} name={metric.name ?? ''} />
      </>
    ),
    cell: ({ id }) => (
      <MetricValue
        value={values.get(id)}
        format={metric.format}
        best={values.get(id) === top}
        from={id === base ? undefined : values.get(base)}
      />
    ),
  };
}

function parameterFact({ name = '', values }: ComparedParameter, base: string): Fact {
  const by = new Map(values?.map(({ run_id, value }) => [run_id, value]));
  return {
    key: `parameter:${name}`,
    head: name,
    cell: ({ id }) => <ParameterValue value={by.get(id)} differs={by.get(id) !== by.get(base)} />,
  };
}

const flipped = (all: string[], one: string) => {
  const next = all.includes(one) ? all.filter((other) => other !== one) : [...all, one];
  return next.length > 0 ? next : undefined;
};

/** Says which end of a metric is the best, and turns it round. */
function Turn({ lowest, name, onTurn }: { lowest: boolean; name: string; onTurn: () => void }) {
  const { t } = useTranslation();
  const word = lowest ? t('compare.lowestBest') : t('compare.highestBest');
  return (
    <UnstyledButton
      fz="xs"
      c="var(--ar-link)"
      mih={24}
      title={t('compare.turn')}
      aria-label={`${name}: ${word}. ${t('compare.turn')}`}
      onClick={onTurn}
    >
      {word}
    </UnstyledButton>
  );
}

function ParameterValue({ value, differs }: { value: string | undefined; differs: boolean }) {
  const { t } = useTranslation();
  return (
    <span className="mono" style={{ fontWeight: differs ? 'var(--ar-weight-strong)' : undefined }}>
      {value || t('field.none')}
    </span>
  );
}

interface MetricValueProps {
  value: number | undefined;
  format: string | undefined;
  best: boolean;
  /** The baseline's value; undefined for the baseline itself. */
  from: number | undefined;
}

function MetricValue({ value, format, best: top, from }: MetricValueProps) {
  const { t, i18n } = useTranslation();
  if (value === undefined) return <>{t('field.none')}</>;
  const text = formatMetric(value, format, i18n.language);
  const percent = numberFormat(i18n.language, {
    style: 'percent',
    maximumFractionDigits: 1,
    signDisplay: 'exceptZero',
  });
  return (
    <>
      {top ? (
        <span className={classes.best}>
          <IconStarFilled size={12} role="img" aria-label={t('compare.best')} />
          {text}
        </span>
      ) : (
        text
      )}
      {Boolean(from) && from !== undefined && (
        <span className={classes.difference}>{percent.format((value - from) / Math.abs(from))}</span>
      )}
    </>
  );
}

/** The pipeline and version of a run, and what it does differently from the baseline's. */
function Version({ run, baseline }: { run: Run; baseline: Run | undefined }) {
  const { t } = useTranslation();
  const [from, to] = [baseline?.pipeline?.version_id, run.pipeline?.version_id];
  return (
    <>
      <PipelineLink run={run} />
      {run.pipeline?.version_name && (
        <Text size="xs" c="dimmed">
          {run.pipeline.version_name}
        </Text>
      )}
      {from && to && from !== to && (
        <TextLink
          to="/diff"
          search={{ from, to }}
          size="xs"
          display="inline-block"
          mih={24}
          aria-label={`${t('compare.versions')}: ${run.name}`}
        >
          {t('compare.versions')}
        </TextLink>
      )}
    </>
  );
}
