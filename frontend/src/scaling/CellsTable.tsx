import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ScalingCell, ScalingLine, ScalingResult } from '../api/scaling';
import { cellName, figure, money, percent, probability, spread } from './numbers';
import classes from './Scaling.module.css';

interface CellsTableProps {
  report: ScalingResult;
  line: ScalingLine;
  title: string;
}

interface Column {
  title: string;
  of: (cell: ScalingCell) => string;
}

/** The cells of a line with their statistics. */
export function CellsTable({ report, line, title }: CellsTableProps) {
  const { t } = useTranslation();
  const cells = line.cells ?? [];
  const columns = useColumns(report, line);
  const base = cells.find(({ at }) => (at ?? '') === (line.base ?? ''));
  return (
    <section className={classes.scroll} tabIndex={0} aria-label={title}>
      <Table verticalSpacing={4} horizontalSpacing="sm" ff="inherit">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{report.by || t('scaling.runsOf')}</Table.Th>
            {columns.map((column) => (
              <Table.Th key={column.title} scope="col" ta="right">
                {column.title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {cells.map((cell) => {
            const others = base && cell !== base ? differing(report, cell, base) : [];
            return (
              <Table.Tr key={cellName(cell)}>
                <Table.Th scope="row">
                  {cell.at || t('scaling.all')}
                  {cell === base && cells.length > 1 && (
                    <Text span size="xs" c="dimmed">
                      {' '}
                      {t('scaling.isBase')}
                    </Text>
                  )}
                  {others.length > 0 && (
                    <Text size="xs" className={classes.differs}>
                      {t('scaling.differsIn', { names: others.join(', ') })}
                    </Text>
                  )}
                </Table.Th>
                {columns.map((column) => (
                  <Table.Td key={column.title} ta="right">
                    {column.of(cell)}
                  </Table.Td>
                ))}
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </section>
  );
}

/** What else than the parameters of the report is other in a cell than at the base. */
function differing(report: ScalingResult, cell: ScalingCell, base: ScalingCell): string[] {
  return (report.differences ?? [])
    .filter(({ cells }) => {
      const of = (name: string) => JSON.stringify(cells?.find((one) => (one.cell ?? '') === name)?.values ?? []);
      return of(cellName(cell)) !== of(cellName(base));
    })
    .map(({ name }) => name ?? '');
}

function useColumns(report: ScalingResult, line: ScalingLine): Column[] {
  const { t, i18n } = useTranslation();
  const at = i18n.language;
  const none = t('field.none');
  const share = (value: number | undefined) => (value === undefined ? none : percent(value, at));
  const between = (low: number | undefined, high: number | undefined) =>
    low === undefined || high === undefined ? none : `${percent(low, at)} – ${percent(high, at)}`;
  const columns: Column[] = [
    {
      title: t('scaling.n'),
      of: ({ values, failed }) =>
        failed ? t('scaling.runsAndFailed', { count: values?.length ?? 0, failed }) : figure(values?.length ?? 0, at),
    },
    { title: report.metric ?? '', of: ({ median }) => figure(median ?? 0, at) },
    {
      title: t('scaling.interval'),
      of: (cell) => {
        const range = spread(cell);
        if (!range) return none;
        return `${figure(range.low, at)} ${range.interval ? '–' : '…'} ${figure(range.high, at)}`;
      },
    },
  ];
  if (report.scaling) {
    columns.push(
      {
        title: t('scaling.ranks'),
        of: ({ ranks, counted }) => (counted ? figure(ranks ?? 0, at) : t('scaling.askedRanks', { count: ranks ?? 0 })),
      },
      { title: t('scaling.perRank'), of: ({ per_rank }) => (per_rank ? figure(per_rank, at) : none) },
      { title: t('scaling.speedup'), of: ({ speedup }) => (speedup ? speedup.toFixed(2) : none) },
      { title: t('scaling.efficiency'), of: ({ efficiency }) => share(efficiency) },
    );
  } else {
    columns.push({
      title: t('scaling.against', { base: line.base ?? '' }),
      of: ({ against }) => share(against?.ratio),
    });
  }
  columns.push(
    { title: t('scaling.ratioInterval'), of: ({ against }) => between(against?.low, against?.high) },
    {
      title: t('scaling.p'),
      of: ({ against }) => (against ? probability(against.adjusted ?? 0, at) : none),
    },
    { title: t('scaling.smallest'), of: ({ against }) => (against ? share(against.smallest) : none) },
  );
  if (line.cells?.some(({ bandwidth }) => bandwidth)) {
    columns.push({ title: t('scaling.bandwidth'), of: ({ bandwidth }) => (bandwidth ? figure(bandwidth, at) : none) });
  }
  if (report.price_source) {
    columns.push(
      { title: t('scaling.perHour'), of: ({ cost_per_hour }) => money(cost_per_hour ?? 0, at) },
      { title: t('scaling.perMillion'), of: ({ cost_per_million }) => money(cost_per_million ?? 0, at) },
    );
  }
  return columns;
}
