import { Anchor, Group, Stack, Text } from '@mantine/core';
import { IconStack2 } from '@tabler/icons-react';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schema } from '../api/client';
import { groupsQuery, type RunsScope, type RunsSearch } from '../api/runs';
import { quoted } from '../api/search';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { formatMetric, formatNumber } from '../format/format';
import { type Column, DataTable } from '../table/DataTable';

type RunGroup = Schema['argosy.v1.RunGroup'];

interface GroupTableProps {
  search: RunsSearch;
  scope: RunsScope;
  by: string;
  /** Shows the runs of a group: what is added to the search line. */
  onOpen: (term: string) => void;
}

/** All runs of the search by the value of a parameter, with the mean and the spread of each metric. */
export default function GroupTable({ search, scope, by, onOpen }: GroupTableProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery({
    ...groupsQuery(search, scope, by, client),
    placeholderData: keepPreviousData,
  });
  const columns = useColumns(by, data?.metrics ?? [], onOpen);
  if (error) {
    return (
      <Failure title={t('failure.title', { what: t('await.runs') })} error={error} onRetry={() => void refetch()} />
    );
  }
  if (isPending) return <Awaiting what={t('await.runs')} rows={4} />;
  if (data.groups.length === 0) {
    return <Empty icon={<IconStack2 aria-hidden />} title={t('list.none')} text={t('list.noneText')} />;
  }
  return (
    <Stack gap="xs">
      <DataTable
        caption={t('groups.caption', { by, count: data.groups.length })}
        columns={columns}
        rows={data.groups}
        rowID={({ value }) => (value === undefined ? 'without' : `value ${value}`)}
      />
      <Text size="sm" c="dimmed">
        {t('groups.what')}{' '}
        {data.total > data.groups.length && t('groups.more', { shown: data.groups.length, total: data.total })}
      </Text>
    </Stack>
  );
}

function useColumns(by: string, metrics: string[], onOpen: (term: string) => void): Column<RunGroup>[] {
  const { t, i18n } = useTranslation();
  const names = JSON.stringify(metrics);
  return useMemo(() => {
    const columns: Column<RunGroup>[] = [
      {
        id: 'value',
        header: by,
        lead: true,
        cell: (group) =>
          group.value === undefined || group.value.includes('"') ? (
            <Text span size="sm" c={group.value === undefined ? 'dimmed' : undefined} className="break">
              {group.value ?? t('groups.without')}
            </Text>
          ) : (
            <Anchor
              component="button"
              type="button"
              size="sm"
              className="mono break"
              ta="left"
              onClick={() => onOpen(`param:${quoted(by)}=${quoted(group.value ?? '')}`)}
            >
              {group.value || t('run.emptyValue')}
            </Anchor>
          ),
      },
      {
        id: 'runs',
        header: t('pages.runs'),
        align: 'right',
        width: 90,
        cell: (row) => formatNumber(row.runs ?? 0, i18n.language),
      },
    ];
    for (const name of JSON.parse(names) as string[]) {
      columns.push({
        id: `metric:${name}`,
        header: name,
        align: 'right',
        cell: (row) => <SpreadCell group={row} name={name} />,
      });
    }
    return columns;
  }, [by, names, onOpen, t, i18n.language]);
}

function SpreadCell({ group, name }: { group: RunGroup; name: string }) {
  const { t, i18n } = useTranslation();
  const spread = group.metrics?.find((metric) => metric.name === name);
  if (!spread)
    return (
      <Text span c="dimmed">
        {t('field.none')}
      </Text>
    );
  const write = (value = 0) => formatMetric(value, undefined, i18n.language);
  return (
    <Stack gap={0} align="flex-end">
      <Group gap={6} wrap="nowrap">
        <data value={spread.mean ?? 0}>{write(spread.mean)}</data>
        {spread.deviation !== undefined && (
          <Text span size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
            ± {write(spread.deviation)}
          </Text>
        )}
      </Group>
      {(spread.runs ?? 0) > 1 && (
        <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          {t('groups.range', { min: write(spread.min), max: write(spread.max), count: spread.runs })}
        </Text>
      )}
    </Stack>
  );
}
