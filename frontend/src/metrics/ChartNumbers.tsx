import { Table, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatMetric, formatNumber, formatTime } from '../format/format';
import { type Axis, metricOf } from './axis';
import { type Curve, placesOf, spread } from './curves';
import classes from './Metrics.module.css';
import { useAxisTitle } from './useAxisTitle';

// Nobody reads more in a page; the whole is in the CSV.
const mostRows = 200;

interface ChartNumbersProps {
  name: string;
  curves: Curve[];
  axis: Axis;
  format: string;
  zoom: [number, number] | undefined;
}

/** What a chart shows, as a table. */
export function ChartNumbers({ name, curves, axis, format, zoom }: ChartNumbersProps) {
  const { t } = useTranslation();
  const [opened, setOpened] = useState(false);
  return (
    <details className={classes.numbers} onToggle={(event) => setOpened(event.currentTarget.open)}>
      <summary>{t('metrics.numbers')}</summary>
      {opened && <Numbers name={name} curves={curves} axis={axis} format={format} zoom={zoom} />}
    </details>
  );
}

function Numbers({ name, curves, axis, format, zoom }: ChartNumbersProps) {
  const { t, i18n } = useTranslation();
  const places = useMemo(() => placesOf(curves).filter((x) => !zoom || (x >= zoom[0] && x <= zoom[1])), [curves, zoom]);
  const shown = places.slice(-mostRows);
  const columns = curves.map((curve) => spread(curve, curve.y, shown));
  const title = useAxisTitle()(axis);
  const place = (x: number) => {
    if (axis === 'time') return formatTime(new Date(x * 1000).toISOString(), i18n.language);
    return metricOf(axis) ? formatMetric(x, undefined, i18n.language) : formatNumber(x, i18n.language);
  };
  return (
    <>
      {shown.length < places.length && (
        <Text size="xs" c="dimmed">
          {t('metrics.lastRows', { shown: shown.length, all: places.length })}
        </Text>
      )}
      <section className={classes.scroll} tabIndex={0} aria-label={t('metrics.numbersOf', { name })}>
        <Table verticalSpacing={4} className={classes.values}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{title}</Table.Th>
              {curves.map((curve) => (
                <Table.Th key={curve.id} scope="col">
                  {curve.label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((x, row) => (
              <Table.Tr key={x}>
                <Table.Td>{place(x)}</Table.Td>
                {columns.map((column, i) => {
                  const value = column[row];
                  return (
                    <Table.Td key={curves[i]?.id}>
                      {typeof value === 'number' ? formatMetric(value, format, i18n.language) : t('field.none')}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
    </>
  );
}
