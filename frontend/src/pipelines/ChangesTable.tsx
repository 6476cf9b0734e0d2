import { Code, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PipelineChange } from '../api/client';
import classes from './Diff.module.css';

/** What two versions do differently, step by step. */
export function ChangesTable({ changes }: { changes: PipelineChange[] }) {
  const { t } = useTranslation();
  return (
    <section className={classes.changes} tabIndex={0} aria-label={t('diff.changes')}>
      <Table verticalSpacing={8}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t('field.step')}</Table.Th>
            <Table.Th scope="col">{t('diff.what')}</Table.Th>
            <Table.Th scope="col">{t('diff.from')}</Table.Th>
            <Table.Th scope="col">{t('diff.to')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map((change) => (
            <Table.Tr key={`${change.step} ${change.path}`}>
              <Table.Td>{change.step || t('diff.whole')}</Table.Td>
              <Table.Td className="mono">{change.path}</Table.Td>
              <Table.Td>
                <Value text={change.from} none={t('diff.added')} />
              </Table.Td>
              <Table.Td>
                <Value text={change.to} none={t('diff.removed')} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Value({ text, none }: { text: string | undefined; none: string }) {
  if (text === undefined) {
    return (
      <Text size="sm" c="dimmed" fs="italic">
        {none}
      </Text>
    );
  }
  return (
    <Code block className="break" style={{ whiteSpace: 'pre-wrap' }}>
      {readable(text)}
    </Code>
  );
}

/** JSON as people read it: texts without quotes, so that their lines are lines. */
function readable(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2);
  } catch {
    return json;
  }
}
