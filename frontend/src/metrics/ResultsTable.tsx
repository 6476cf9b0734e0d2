import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Metric, Run } from '../api/client';
import { type Series, seriesQuery } from '../api/series';
import { formatMetric, formatNumber } from '../format/format';
import { fewestPoints } from './choose';
import { summaryOf } from './curves';
import classes from './Metrics.module.css';
import { useInView } from './useInView';

interface ResultsTableProps {
  run: Run;
  names: string[];
  nameOf: (nodeID: string) => string;
}

/** Every metric of every step: its result, and the last, least and greatest of its values. */
export function ResultsTable({ run, names, nameOf }: ResultsTableProps) {
  const { t } = useTranslation();
  return (
    <section className={`panel ${classes.results}`} aria-label={t('metrics.results')} tabIndex={0}>
      <Table verticalSpacing={4} horizontalSpacing="sm" stickyHeader={false}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t('field.metric')}</Table.Th>
            <Table.Th scope="col">{t('field.step')}</Table.Th>
            {(['result', 'last', 'min', 'max', 'points'] as const).map((column) => (
              <Table.Th key={column} scope="col" data-number>
                {t(`metrics.${column}`)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        {names.map((name) => (
          <MetricRows key={name} run={run} name={name} nameOf={nameOf} />
        ))}
      </Table>
    </section>
  );
}

function MetricRows({ run, name, nameOf }: { run: Run; name: string; nameOf: (nodeID: string) => string }) {
  const { t, i18n } = useTranslation();
  const [ref, seen] = useInView<HTMLTableSectionElement>();
  const { data: series = [] } = useQuery({
    ...seriesQuery(run, name, fewestPoints),
    enabled: seen,
  });
  const results = ((run.metrics ?? []) as Metric[]).filter((metric) => metric.name === name);
  const nodes = [...new Set([...results.map((metric) => metric.node_id ?? ''), ...series.map((one) => one.nodeID)])];
  return (
    <Table.Tbody ref={ref}>
      {(nodes.length > 0 ? nodes : ['']).map((node) => {
        const result = results.find((metric) => metric.node_id === node);
        const own = series.filter((one) => one.nodeID === node);
        const { last, min, max, total } = summary(own);
        const format = result?.format ?? own[0]?.format;
        const number = (value: number | null | undefined) =>
          value === null || value === undefined ? t('field.none') : formatMetric(value, format, i18n.language);
        return (
          <Table.Tr key={node}>
            <Table.Td>{name}</Table.Td>
            <Table.Td>{nameOf(node)}</Table.Td>
            <Table.Td data-number>
              <data value={result?.value}>{number(result?.value)}</data>
            </Table.Td>
            <Table.Td data-number>{number(last)}</Table.Td>
            <Table.Td data-number>{number(min)}</Table.Td>
            <Table.Td data-number>{number(max)}</Table.Td>
            <Table.Td data-number>
              {total === 0
                ? t('field.none')
                : own.length > 1
                  ? t('metrics.pointsOf', { total, count: own.length })
                  : formatNumber(total, i18n.language)}
            </Table.Td>
          </Table.Tr>
        );
      })}
    </Table.Tbody>
  );
}

// What the server leaves out is neither the least, nor the greatest, nor the last value.
function summary(series: Series[]) {
  const all = summaryOf(series.flatMap((one) => one.points));
  const last = series[0] ? summaryOf(series[0].points).last : null;
  return { ...all, last, total: series.reduce((sum, one) => sum + one.total, 0) };
}
