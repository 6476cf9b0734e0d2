import { Badge, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { versionParametersQuery } from '../api/runs';
import classes from './RunPage.module.css';

/** What the run was given, beside what the pipeline would have taken. */
export function RunParameters({ run }: { run: Run }) {
  const { t } = useTranslation();
  const version = run.pipeline?.version_id;
  const { data: defaults, error } = useQuery({ ...versionParametersQuery(version ?? ''), enabled: Boolean(version) });
  const given = run.parameters ?? [];
  if (given.length === 0) {
    return (
      <Text c="dimmed" p="lg">
        {t('run.noParameters')}
      </Text>
    );
  }
  const known = new Map((defaults ?? []).map(({ name, value }) => [name, value ?? '']));
  return (
    <section className={`panel ${classes.parameters}`} aria-label={t('run.parameters')} tabIndex={0}>
      {error && (
        <Text size="sm" c="dimmed" px="md" pt="sm" role="status">
          {t('run.noDefaults', { why: error.message })}
        </Text>
      )}
      <Table verticalSpacing={6} horizontalSpacing="md">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{t('field.name')}</Table.Th>
            <Table.Th scope="col">{t('field.value')}</Table.Th>
            <Table.Th scope="col">{t('field.default')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {given.map(({ name = '', value = '' }) => {
            const changed = known.has(name) && known.get(name) !== value;
            return (
              <Table.Tr key={name}>
                <Table.Td className={classes.parameterName}>{name}</Table.Td>
                <Table.Td className={`mono ${classes.parameterValue}`} data-changed={changed || undefined}>
                  {value || t('run.emptyValue')}
                  {changed && (
                    <Badge ml="xs" size="xs" variant="default" radius="sm" tt="none">
                      {t('run.changed')}
                    </Badge>
                  )}
                </Table.Td>
                <Table.Td className={`mono ${classes.parameterValue}`} c="dimmed">
                  {known.has(name) ? known.get(name) || t('run.emptyValue') : t('field.none')}
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </section>
  );
}
