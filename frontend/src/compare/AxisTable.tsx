import { Table } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { formatMetric } from '../format/format';
import classes from './Compare.module.css';
import type { Axis } from './measure';

interface AxisTableProps {
  axes: Axis[];
  runs: Run[];
  marked?: string;
  /** The only runs to show; all where it is absent. */
  selected?: Set<string>;
}

/** What a picture of runs shows, as a table. */
export function AxisTable({ axes, runs, marked, selected }: AxisTableProps) {
  const { t, i18n } = useTranslation();
  const [opened, setOpened] = useState(false);
  // A run keeps its number when others are left out.
  const rows = runs.map(({ id, name }, i) => ({ id, name: `${i + 1} ${name}` }));
  const shown = selected ? rows.filter(({ id }) => selected.has(id)) : rows;
  const text = (value: number | string | undefined) =>
    typeof value === 'number' ? formatMetric(value, 'RAW', i18n.language) : value || t('field.none');
  return (
    <details className={classes.numbers} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{t('compare.asTable')}</summary>
      {opened && (
        <section className={classes.scroll} tabIndex={0} aria-label={axes.map(({ label }) => label).join(', ')}>
          <Table verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{t('field.run')}</Table.Th>
                {axes.map(({ key, label }) => (
                  <Table.Th key={key} scope="col">
                    {label}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map(({ id, name }) => (
                <Table.Tr key={id} aria-current={id === marked || undefined} fw={id === marked ? 620 : undefined}>
                  <Table.Th scope="row" fw="inherit">
                    {name}
                  </Table.Th>
                  {axes.map(({ key, values }) => (
                    <Table.Td key={key}>{text(values.get(id))}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </section>
      )}
    </details>
  );
}
