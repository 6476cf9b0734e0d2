import { ActionIcon, Button, Group, Menu, Text } from '@mantine/core';
import { IconDots, IconSitemap, IconTrash, IconUpload } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Pipeline } from '../api/client';
import { pipelinesQuery } from '../api/pipelines';
import { ButtonLink, TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Empty } from '../feedback/Empty';
import { Ago } from '../format/Ago';
import type { Column } from '../table/DataTable';
import { FilterBar } from '../table/ListControls';
import { PagedTable } from '../table/PagedTable';
import { useListURL } from '../table/useListURL';
import { DeletePipeline } from './DeletePipeline';
import { DropTarget } from './DropTarget';
import { UploadDialog } from './UploadDialog';

const route = getRouteApi('/pipelines');

export function PipelinesPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const url = useListURL(search);
  const list = useQuery({ ...pipelinesQuery(search), placeholderData: keepPreviousData });
  const [uploading, setUploading] = useState<{ file?: File }>();
  const [doomed, setDoomed] = useState<Pipeline>();
  const columns = useColumns(setDoomed);

  const uploadButton = (
    <Button leftSection={<IconUpload size={16} aria-hidden />} onClick={() => setUploading({})}>
      {t('pipelines.upload')}
    </Button>
  );

  return (
    <Page title={t('pages.pipelines')} actions={uploadButton}>
      <DropTarget label={t('pipelines.drop')} disabled={Boolean(uploading)} onFile={(file) => setUploading({ file })} />
      <FilterBar q={search.q} onFilter={(q) => url.change({ q }, true)} />
      <PagedTable
        list={list}
        what={t('await.pipelines')}
        title={t('pages.pipelines')}
        columns={columns}
        search={search}
        url={url}
        empty={
          <Empty icon={<IconSitemap aria-hidden />} title={t('pipelines.emptyTitle')} text={t('pipelines.emptyText')}>
            {uploadButton}
          </Empty>
        }
      />
      {uploading && <UploadDialog file={uploading.file} onClose={() => setUploading(undefined)} />}
      {doomed && <DeletePipeline pipeline={doomed} onClose={() => setDoomed(undefined)} />}
    </Page>
  );
}

function useColumns(onDelete: (pipeline: Pipeline) => void): Column<Pipeline>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('field.name'),
        sorts: true,
        cell: (row) => (
          <TextLink to="/pipelines/$pipelineId" params={{ pipelineId: row.id }} fw={550} className="name">
            {row.name}
          </TextLink>
        ),
      },
      {
        id: 'description',
        header: t('field.description'),
        sorts: true,
        cell: (row) => (
          <Text size="sm" c="dimmed" lineClamp={2} maw={560}>
            {row.description || t('field.none')}
          </Text>
        ),
      },
      {
        id: 'default_version',
        header: t('field.defaultVersion'),
        cell: (row) => <span className="name">{row.default_version?.name ?? t('field.none')}</span>,
      },
      {
        id: 'created_at',
        header: t('field.uploaded'),
        sorts: true,
        width: 130,
        cell: (row) => <Ago at={row.created_at} />,
      },
      {
        id: 'actions',
        header: t('pipelines.actions'),
        width: 190,
        align: 'right',
        cell: (row) => (
          <Group gap={6} wrap="nowrap" justify="flex-end">
            <ButtonLink to="/runs/new" search={{ pipeline: row.id }} size="compact-sm" variant="light">
              {t('pipelines.createRun')}
            </ButtonLink>
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon variant="subtle" color="gray" aria-label={`${t('pipelines.actions')}: ${row.name}`}>
                  <IconDots size={18} aria-hidden />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item
                  c="var(--ar-bad)"
                  leftSection={<IconTrash size={16} aria-hidden />}
                  onClick={() => onDelete(row)}
                >
                  {t('action.delete')}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          </Group>
        ),
      },
    ],
    [t, onDelete],
  );
}
