import { Badge, Group, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Page, Pipeline, PipelineVersion } from '../api/client';
import { ButtonLink, TextLink } from '../app/links';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { Ago } from '../format/Ago';
import { type Column, DataTable } from '../table/DataTable';

interface VersionsTableProps {
  pipeline: Pipeline;
  query: UseQueryResult<Page<PipelineVersion>>;
}

/** The versions of a pipeline, the newest first. */
export function VersionsTable({ pipeline, query: { data, error, refetch } }: VersionsTableProps) {
  const { t } = useTranslation();
  const defaultID = pipeline.default_version?.id;
  const columns = useMemo(
    (): Column<PipelineVersion>[] => [
      {
        id: 'name',
        header: t('field.version'),
        cell: (version) => (
          <Group gap="xs">
            <TextLink
              to="/pipelines/$pipelineId"
              params={{ pipelineId: pipeline.id }}
              search={{ version: version.id === defaultID ? undefined : version.id }}
              className="name"
            >
              {version.name}
            </TextLink>
            {version.id === defaultID && <Badge variant="default">{t('pipeline.default')}</Badge>}
          </Group>
        ),
      },
      {
        id: 'description',
        header: t('field.description'),
        cell: (row) => (
          <Text size="sm" c="dimmed" lineClamp={2}>
            {row.description || t('field.none')}
          </Text>
        ),
      },
      { id: 'created_at', header: t('field.uploaded'), cell: (row) => <Ago at={row.created_at} /> },
      {
        id: 'run',
        header: t('pipelines.actions'),
        align: 'right',
        cell: (version) => (
          <Group gap={6} justify="flex-end" wrap="nowrap">
            {version.id !== defaultID && (
              <ButtonLink to="/diff" search={{ from: version.id, to: defaultID }} size="compact-sm" variant="subtle">
                {t('diff.withDefault')}
              </ButtonLink>
            )}
            <ButtonLink
              to="/runs/new"
              search={{ pipeline: pipeline.id, version: version.id }}
              size="compact-sm"
              variant="light"
            >
              {t('pipelines.createRun')}
            </ButtonLink>
          </Group>
        ),
      },
    ],
    [t, pipeline.id, defaultID],
  );
  const what = t('await.versions');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (!data) return <Awaiting what={what} />;
  return <DataTable bare caption={t('pipeline.versions')} columns={columns} rows={data.items} rowID={({ id }) => id} />;
}
