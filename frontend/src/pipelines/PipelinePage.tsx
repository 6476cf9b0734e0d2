import { Badge, Button, Group, NativeSelect, Tabs, Text } from '@mantine/core';
import { IconPlayerPlay, IconTrash, IconUpload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Pipeline, PipelineVersion } from '../api/client';
import { pipelineQuery, templateQuery, versionsQuery } from '../api/pipelines';
import { ButtonLink, TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { Time } from '../format/Duration';
import { RunsTable } from '../runs/RunsTable';
import { LazyYAMLView } from '../yaml/LazyYAMLView';
import { DeletePipeline } from './DeletePipeline';
import { DropTarget } from './DropTarget';
import { ParametersTab } from './ParametersTab';
import { PipelineGraph } from './PipelineGraph';
import classes from './PipelinePage.module.css';
import type { PipelineSearch, PipelineTab } from './pipelineSearch';
import { UploadDialog } from './UploadDialog';
import { useParameterRules } from './useParameterRules';
import { VersionsTable } from './VersionsTable';

const route = getRouteApi('/pipelines/$pipelineId');

export function PipelinePage() {
  const { t } = useTranslation();
  const { pipelineId } = route.useParams();
  const { data: pipeline, error, refetch } = useQuery(pipelineQuery(pipelineId));
  const trail = <TextLink to="/pipelines">{t('pages.pipelines')}</TextLink>;
  if (!pipeline) {
    return (
      <Page title={t('field.pipeline')} trail={trail}>
        {error ? (
          <Failure
            title={t('failure.title', { what: t('await.pipeline') })}
            error={error}
            onRetry={() => void refetch()}
          />
        ) : (
          <Awaiting what={t('await.pipeline')} rows={8} />
        )}
      </Page>
    );
  }
  return <PipelineView pipeline={pipeline} trail={trail} />;
}

function PipelineView({ pipeline, trail }: { pipeline: Pipeline; trail: React.ReactNode }) {
  const { t } = useTranslation();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const versions = useQuery(versionsQuery(pipeline.id));
  const [uploading, setUploading] = useState<{ file?: File }>();
  const [deleting, setDeleting] = useState(false);
  const show = useCallback(
    (patch: PipelineSearch) => void navigate({ search: (old) => ({ ...old, ...patch }), replace: true }),
    [navigate],
  );

  const versionID = search.version ?? pipeline.default_version?.id;
  const version = versions.data?.items.find(({ id }) => id === versionID);
  const rules = useParameterRules(pipeline.id, versionID) ?? {};
  const parameters = version?.parameters ?? pipeline.parameters ?? [];

  return (
    <Page
      title={pipeline.name}
      trail={trail}
      actions={
        <>
          <ButtonLink
            to="/runs/new"
            search={{ pipeline: pipeline.id, version: search.version }}
            leftSection={<IconPlayerPlay size={16} aria-hidden />}
          >
            {t('pipelines.createRun')}
          </ButtonLink>
          <Button variant="default" leftSection={<IconUpload size={16} aria-hidden />} onClick={() => setUploading({})}>
            {t('pipeline.uploadVersion')}
          </Button>
          <Button
            variant="default"
            c="var(--ar-bad)"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={() => setDeleting(true)}
          >
            {t('action.delete')}
          </Button>
        </>
      }
    >
      <DropTarget label={t('pipelines.drop')} disabled={Boolean(uploading)} onFile={(file) => setUploading({ file })} />
      {pipeline.description && (
        <Text c="dimmed" size="sm" className="break" style={{ whiteSpace: 'pre-wrap' }}>
          {pipeline.description}
        </Text>
      )}
      <Group gap="xl" align="flex-end">
        <VersionChooser
          versions={versions.data?.items ?? []}
          value={versionID}
          defaultID={pipeline.default_version?.id}
          onChange={(id) => void navigate({ search: (old) => ({ ...old, version: id, step: undefined }) })}
        />
        <Text size="sm" c="dimmed">
          {t('field.uploaded')}: <Time at={version?.created_at ?? pipeline.created_at} />
        </Text>
      </Group>
      <Tabs
        value={search.tab ?? 'graph'}
        // What is looked for in the graph is no search for runs.
        onChange={(tab) => show({ tab: tab as PipelineTab, q: undefined })}
        className={`panel ${classes.tabs}`}
        keepMounted={false}
      >
        <Tabs.List>
          <Tabs.Tab value="graph">{t('pipeline.graph')}</Tabs.Tab>
          <Tabs.Tab value="parameters">{t('pipeline.parameters')}</Tabs.Tab>
          <Tabs.Tab value="yaml">{t('pipeline.yaml')}</Tabs.Tab>
          <Tabs.Tab value="versions" rightSection={versions.data && <Count of={versions.data.total} />}>
            {t('pipeline.versions')}
          </Tabs.Tab>
          <Tabs.Tab value="runs">{t('pipeline.runs')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="graph" className={classes.tab}>
          <PipelineGraph pipelineID={pipeline.id} versionID={search.version} search={search} onShow={show} />
        </Tabs.Panel>
        <Tabs.Panel value="parameters" className={classes.tab}>
          <ParametersTab parameters={parameters} rules={rules} />
        </Tabs.Panel>
        <Tabs.Panel value="yaml" className={classes.tab}>
          <Template pipeline={pipeline} versionID={search.version} />
        </Tabs.Panel>
        <Tabs.Panel value="versions" className={classes.tab}>
          <VersionsTable
            pipeline={pipeline}
            query={versions}
            chosen={search.compare ?? []}
            onChoose={(ids) => show({ compare: ids.length > 0 ? ids : undefined })}
            onDeleted={(id) => search.version === id && show({ version: undefined })}
          />
        </Tabs.Panel>
        <Tabs.Panel value="runs" className={classes.tab} p="md">
          <RunsTable search={search} pipelineID={pipeline.id} />
        </Tabs.Panel>
      </Tabs>
      {uploading && <UploadDialog versionOf={pipeline} file={uploading.file} onClose={() => setUploading(undefined)} />}
      {deleting && (
        <DeletePipeline
          pipeline={pipeline}
          onClose={() => setDeleting(false)}
          onDeleted={() => void navigate({ to: '/pipelines' })}
        />
      )}
    </Page>
  );
}

function Count({ of }: { of: number }) {
  return (
    <Badge size="sm" variant="default" circle>
      {of}
    </Badge>
  );
}

interface VersionChooserProps {
  versions: PipelineVersion[];
  value: string | undefined;
  defaultID: string | undefined;
  onChange: (id: string | undefined) => void;
}

function VersionChooser({ versions, value, defaultID, onChange }: VersionChooserProps) {
  const { t } = useTranslation();
  return (
    <NativeSelect
      label={t('field.version')}
      value={value}
      miw={220}
      disabled={versions.length === 0}
      data={versions.map(({ id, name }) => ({
        value: id,
        label: id === defaultID ? `${name} (${t('pipeline.default')})` : name,
      }))}
      onChange={({ currentTarget: { value: id } }) => onChange(id === defaultID ? undefined : id)}
    />
  );
}

function Template({ pipeline, versionID }: { pipeline: Pipeline; versionID: string | undefined }) {
  const { t } = useTranslation();
  const { data, error, isPending, refetch } = useQuery(templateQuery(pipeline.id, versionID));
  const what = t('await.yaml');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (isPending) return <Awaiting what={what} />;
  return <LazyYAMLView text={data} file={`${pipeline.name}.yaml`} />;
}
