import { NativeSelect, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PipelineVersion } from '../api/client';
import { pipelinesQuery } from '../api/pipelines';
import { Failure } from '../feedback/Failure';
import classes from './NewRun.module.css';

interface PipelineFieldProps {
  pipeline: { id: string; name: string } | undefined;
  versions: PipelineVersion[];
  versionID: string | undefined;
  /** The version is deleted, and what it held is kept. */
  gone?: boolean;
  defaultVersionID: string | undefined;
  error: string | undefined;
  onPipeline: (id: string | undefined) => void;
  onVersion: (id: string | undefined) => void;
}

/** Chooses a pipeline, which the server finds by part of its name, and one of its versions. */
export function PipelineField(props: PipelineFieldProps) {
  const { pipeline, versions, versionID, gone, defaultVersionID, error, onPipeline, onVersion } = props;
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [sought] = useDebouncedValue(text, 250);
  // Right after a choice the field holds the chosen name, which is nothing to search for.
  const q = sought && sought !== pipeline?.name ? sought : undefined;
  const list = useQuery({ ...pipelinesQuery({ q, size: 50 }), placeholderData: keepPreviousData });

  const options = new Map(list.data?.items.map(({ id, name }) => [id, name]));
  if (pipeline) options.set(pipeline.id, pipeline.name);
  const none = list.data?.total === 0 && !q;

  return (
    <>
      <div className={classes.fields}>
        <Select
          label={t('field.pipeline')}
          placeholder={t('newRun.choosePipeline')}
          description={none ? t('newRun.noPipelines') : undefined}
          required
          searchable
          value={pipeline?.id ?? null}
          error={error}
          data={[...options].map(([value, label]) => ({ value, label }))}
          nothingFoundMessage={t('newRun.nothingFound')}
          onSearchChange={setText}
          onChange={(id) => onPipeline(id ?? undefined)}
        />
        <NativeSelect
          label={t('field.version')}
          value={versionID ?? ''}
          disabled={versions.length === 0}
          data={[
            ...(gone && versionID ? [{ value: versionID, label: t('newRun.deletedVersion') }] : []),
            ...versions.map(({ id, name }) => ({
              value: id,
              label: id === defaultVersionID ? `${name} (${t('pipeline.default')})` : name,
            })),
          ]}
          onChange={(event) => onVersion(event.currentTarget.value)}
        />
      </div>
      {list.error && (
        <Failure
          title={t('failure.title', { what: t('await.pipelines') })}
          error={list.error}
          onRetry={() => void list.refetch()}
        />
      )}
    </>
  );
}
