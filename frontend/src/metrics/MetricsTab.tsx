import { Modal, Text, Title } from '@mantine/core';
import { IconChartLine } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Metric, Run, RunNode } from '../api/client';
import { seriesListQuery } from '../api/series';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { stepLabels } from '../graph/model';
import type { RunSearch, ShowPatch } from '../runs/runSearch';
import { isFinal } from '../status/status';
import { MetricChart } from './MetricChart';
import { MetricControls } from './MetricControls';
import classes from './Metrics.module.css';
import { ResultsTable } from './ResultsTable';

interface MetricsTabProps {
  run: Run;
  search: RunSearch;
  onShow: ShowPatch;
}

/** All that the steps of a run measured: curves, and a table of results. */
export function MetricsTab({ run, search, onShow }: MetricsTabProps) {
  const { t } = useTranslation();
  const { data: series, error, refetch } = useQuery(seriesListQuery(run));
  const nameOf = useStepNames(run);
  const what = t('await.series');
  if (error && !series)
    return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (!series) return <Awaiting what={what} rows={8} />;

  const results = ((run.metrics ?? []) as Metric[]).map((metric) => metric.name);
  const names = [...new Set([...series.map((one) => one.name), ...results])].sort((a, b) => a.localeCompare(b));
  if (names.length === 0) {
    return (
      <Empty
        icon={<IconChartLine aria-hidden />}
        title={t(isFinal(run.status) ? 'run.noMetricsFinal' : 'run.noMetrics')}
        text={t('metrics.teach')}
      />
    );
  }
  const words = search.metric?.toLowerCase() ?? '';
  const kept = names.filter((name) => name.toLowerCase().includes(words));
  const open = names.find((name) => name === search.open);
  // A single value is no curve: it is in the table. The chart on the full screen is not in the grid, too: two regions of one name cannot be told apart.
  const drawn = kept.filter((name) => name !== open && series.some((one) => one.name === name && one.total > 1));
  const controls = {
    search,
    names: [...new Set(series.map((one) => one.name))].sort((a, b) => a.localeCompare(b)),
    ranks: [...new Set(series.map((one) => one.rank))].sort((a, b) => a - b),
    onShow,
  };
  const chart = { run, search, nameOf, onShow };
  return (
    <div className={classes.tab}>
      {series.length > 0 && <MetricControls {...controls} />}
      {kept.length === 0 && (
        <Text c="dimmed" role="status">
          {t('list.noneText')}
        </Text>
      )}
      {drawn.length > 0 && (
        <div className={classes.grid}>
          {drawn.map((name) => (
            <MetricChart key={name} name={name} {...chart} />
          ))}
        </div>
      )}
      {kept.length > 0 && (
        <>
          <Title order={2} size="h5">
            {t('metrics.results')}
          </Title>
          <ResultsTable run={run} names={kept} nameOf={nameOf} />
        </>
      )}
      <Modal
        fullScreen
        opened={open !== undefined}
        onClose={() => onShow({ open: undefined })}
        title={t('metrics.curvesOf', { name: open ?? '' })}
        closeButtonProps={{ 'aria-label': t('action.close') }}
      >
        {open && (
          <div className={classes.tab}>
            <MetricControls {...controls} />
            <MetricChart full name={open} {...chart} />
          </div>
        )}
      </Modal>
    </div>
  );
}

function useStepNames(run: Run) {
  const labels = useMemo(() => stepLabels((run.nodes ?? []) as RunNode[]), [run.nodes]);
  return useCallback((id: string) => labels.get(id) ?? id, [labels]);
}
