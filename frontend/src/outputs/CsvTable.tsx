import { Table, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { csvRows } from './csv';
import classes from './Outputs.module.css';

const most = 200;

interface CsvTableProps {
  text: string;
  /** Names of the columns; the first row has them when absent. */
  header?: string[];
  label: string;
}

/** The first rows of a CSV text. */
export function CsvTable({ text, header, label }: CsvTableProps) {
  const { t } = useTranslation();
  const rows = useMemo(() => csvRows(text, most + 2), [text]);
  const [head = [], ...body] = header && header.length > 0 ? [header, ...rows] : rows;
  return (
    <>
      <section className={classes.scroll} aria-label={label} tabIndex={0}>
        <Table verticalSpacing={4} horizontalSpacing="sm" className={classes.csv}>
          <Table.Thead>
            <Table.Tr>{head.map((name, i) => cell('th')(name, i, body[0]?.[i]))}</Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {body.slice(0, most).map((row, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file have no other name
              <Table.Tr key={i}>{row.map((text, i) => cell('td')(text, i))}</Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </section>
      {body.length > most && (
        <Text size="xs" c="dimmed">
          {t('outputs.firstRows', { count: most })}
        </Text>
      )}
    </>
  );
}

const number = /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?%?\s*$/i;

// A heading stands over its numbers as these stand.
const cell =
  (kind: 'th' | 'td') =>
  (text: string, i: number, below = text) => {
    const Cell = kind === 'th' ? Table.Th : Table.Td;
    return (
      <Cell key={i} scope={kind === 'th' ? 'col' : undefined} data-number={number.test(below) || undefined}>
        {text}
      </Cell>
    );
  };
