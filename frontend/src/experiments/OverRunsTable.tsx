import { Table } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TextLink } from '../app/links';
import compare from '../compare/Compare.module.css';
import { formatMetric, formatTime } from '../format/format';
import { StatusBadge } from '../status/StatusBadge';
import type { RunPoint } from './overRuns';

/** What the chart of a metric shows, as a table, the newest run first. */
export function OverRunsTable({ name, points }: { name: string; points: RunPoint[] }) {
  const { t, i18n } = useTranslation();
  const [opened, setOpened] = useState(false);
  return (
    <details className={compare.numbers} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{t('metrics.numbers')}</summary>
      {opened && (
        <section className={compare.scroll} tabIndex={0} aria-label={t('metrics.numbersOf', { name })}>
          <Table verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t('field.run')}</Table.Th>
                <Table.Th scope="col">{t('field.status')}</Table.Th>
                <Table.Th scope="col">{t('field.started')}</Table.Th>
                <Table.Th scope="col">{name}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {points.toReversed().map(({ run, at, metric }) => (
                <Table.Tr key={`${run.id} ${metric?.node_id}`}>
                  <Table.Th scope="row" fw="inherit">
                    <TextLink to="/runs/$runId" params={{ runId: run.id }} className="name">
                      {run.name}
                    </TextLink>
                  </Table.Th>
                  <Table.Td>
                    <StatusBadge phase={run.status} plain />
                  </Table.Td>
                  <Table.Td>{formatTime(new Date(at).toISOString(), i18n.language)}</Table.Td>
                  <Table.Td>
                    {metric ? formatMetric(metric.value, metric.format, i18n.language) : t('field.none')}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
    </details>
  );
}
