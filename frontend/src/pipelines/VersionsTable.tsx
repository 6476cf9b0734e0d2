import { Badge, Group, Text } from '@mantine/core';
import { IconGitCompare } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Page, Pipeline, PipelineVersion } from '../api/client';
import { ButtonLink, TextLink } from '../app/links';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { Ago } from '../format/Ago';
import { Choice, ChooseOne } from '../table/Choice';
import { type Column, DataTable } from '../table/DataTable';
import { useChosen } from '../table/useTyped';
import { VersionActions } from './VersionActions';

interface VersionsTableProps {
  pipeline: Pipeline;
  query: UseQueryResult<Page<PipelineVersion>>;
  /** The versions to compare, by their ids. */
  chosen: string[];
  onChoose: (ids: string[]) => void;
  onDeleted: (id: string) => void;
}

/** The versions of a pipeline, the newest first; two can be chosen and compared. */
export function VersionsTable({ pipeline, query, chosen: kept, onChoose, onDeleted }: VersionsTableProps) {
  const { t } = useTranslation();
  const { data, error, refetch } = query;
  const [chosen, choose] = useChosen(kept, onChoose);
  const versions = data?.items;
  const columns = useColumns(pipeline, versions, onDeleted);
  const what = t('await.versions');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (!versions) return <Awaiting what={what} />;
  // The list has the newest first: a comparison goes from the older one to the newer one.
  const those = versions.filter(({ id }) => chosen.includes(id));
  const [to, from] = those;
  return (
    <>
      {versions.length > 1 && (
        <Group gap="sm" px="md" py="xs" mih={46}>
          {those.length === 2 && from && to ? (
            <ButtonLink
              to="/diff"
              search={{ from: from.id, to: to.id }}
              size="compact-sm"
              leftSection={<IconGitCompare size={16} aria-hidden />}
            >
              {t('diff.chosen')}
            </ButtonLink>
          ) : (
            <Text size="sm" c="dimmed" role="status">
              {t('diff.chooseTwo', { count: those.length })}
            </Text>
          )}
        </Group>
      )}
      <Choice value={{ rows: versions, chosen, onChoose: choose }}>
        <DataTable bare caption={t('pipeline.versions')} columns={columns} rows={versions} rowID={({ id }) => id} />
      </Choice>
    </>
  );
}

function useColumns(
  pipeline: Pipeline,
  versions: PipelineVersion[] | undefined,
  onDeleted: (id: string) => void,
): Column<PipelineVersion>[] {
  const { t } = useTranslation();
  const defaultID = pipeline.default_version?.id;
  return [
    {
      id: 'chosen',
      header: t('diff.choose'),
      width: 90,
      cell: (version) => (
        <Group>
          <ChooseOne row={version} />
        </Group>
      ),
    },
    {
      id: 'name',
      header: t('field.version'),
      lead: true,
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
      id: 'actions',
      header: t('pipelines.actions'),
      align: 'right',
      cell: (version) => (
        <Group gap={6} justify="flex-end" wrap="nowrap">
          <ButtonLink
            to="/runs/new"
            search={{ pipeline: pipeline.id, version: version.id }}
            size="compact-sm"
            variant="light"
          >
            {t('pipelines.createRun')}
          </ButtonLink>
          <VersionActions pipeline={pipeline} version={version} versions={versions ?? []} onDeleted={onDeleted} />
        </Group>
      ),
    },
  ];
}
