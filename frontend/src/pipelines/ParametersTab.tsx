import { Badge, Group, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Parameter } from '../api/client';
import { type Column, DataTable } from '../table/DataTable';
import type { ParameterRule } from './template';

interface ParametersTabProps {
  parameters: Parameter[];
  /** What the manifest says about them, by name. */
  rules: Record<string, ParameterRule>;
}

/** The parameters of a version: their defaults, and what values they take. */
export function ParametersTab({ parameters, rules }: ParametersTabProps) {
  const { t } = useTranslation();
  if (parameters.length === 0) {
    return (
      <Text size="sm" c="dimmed" px="md" py="sm">
        {t('pipeline.noParameters')}
      </Text>
    );
  }
  const none = <Text c="dimmed">{t('field.none')}</Text>;
  const columns: Column<Parameter>[] = [
    {
      id: 'name',
      header: t('field.name'),
      lead: true,
      cell: ({ name = '' }) => (
        <>
          <span className="break">{name}</span>
          {rules[name]?.description && (
            <Text size="xs" c="dimmed">
              {rules[name].description}
            </Text>
          )}
        </>
      ),
    },
    {
      id: 'default',
      header: t('field.default'),
      cell: ({ value }) =>
        value ? (
          <Text inherit className="mono break" miw={150} style={{ whiteSpace: 'pre-wrap' }}>
            {value}
          </Text>
        ) : (
          none
        ),
    },
    { id: 'type', header: t('field.type'), cell: ({ name = '' }) => typeText(rules[name]?.type, t) ?? none },
    { id: 'allowed', header: t('pipeline.allowed'), cell: ({ name = '' }) => <Allowed rule={rules[name] ?? {}} /> },
  ];
  return (
    <DataTable
      bare
      caption={t('pipeline.parameters')}
      columns={columns}
      rows={parameters}
      rowID={({ name = '' }) => name}
    />
  );
}

const types = ['String', 'Integer', 'Float', 'Bool', 'JsonArray', 'JsonObject'] as const;

/** A type in words; one of a package's own is written as it is there. */
function typeText(type: string | undefined, t: TFunction) {
  const known = types.find((one) => one === type);
  return known ? t(`pipeline.type.${known}`) : type;
}

/** The choices or the range that a value must keep to. */
function Allowed({ rule: { choices, min, max } }: { rule: ParameterRule }) {
  const { t } = useTranslation();
  if (choices?.length) {
    return (
      <Group gap={6} component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {choices.map((choice) => (
          <li key={choice}>
            <Badge variant="default" className="mono" tt="none" fw={400}>
              {choice}
            </Badge>
          </li>
        ))}
      </Group>
    );
  }
  if (min !== undefined && max !== undefined) return <>{t('pipeline.between', { min, max })}</>;
  if (min !== undefined) return <>{t('pipeline.atLeast', { min })}</>;
  if (max !== undefined) return <>{t('pipeline.atMost', { max })}</>;
  return <Text c="dimmed">{t('field.none')}</Text>;
}
