import { Table, Text, VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Parameter } from '../api/client';

interface ParameterTableProps {
  parameters: Parameter[];
  /** What to say when there are none. */
  empty: string;
  caption: string;
  valueHeader?: string;
}

/** Names and values, as they were given. */
export function ParameterTable({ parameters, empty, caption, valueHeader }: ParameterTableProps) {
  const { t } = useTranslation();
  if (parameters.length === 0) {
    return (
      <Text size="sm" c="dimmed" px="md" py="sm">
        {empty}
      </Text>
    );
  }
  return (
    <Table horizontalSpacing="md" verticalSpacing={8} style={{ tableLayout: 'fixed' }}>
      <caption style={{ padding: 0, height: 0 }}>
        <VisuallyHidden>{caption}</VisuallyHidden>
      </caption>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col" w="34%">
            {t('field.name')}
          </Table.Th>
          <Table.Th scope="col">{valueHeader ?? t('field.value')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {parameters.map(({ name, value }) => (
          <Table.Tr key={name}>
            <Table.Td className="break">{name}</Table.Td>
            <Table.Td className="mono break" style={{ whiteSpace: 'pre-wrap' }}>
              {value || (
                <Text span c="dimmed" size="sm">
                  {t('field.none')}
                </Text>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
