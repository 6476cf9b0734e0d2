import { Button, Group, NativeSelect, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '../api/client';
import { Awaiting } from '../feedback/Awaiting';
import classes from './Compare.module.css';
import type { CompareSearch } from './compareSearch';

const VersionDiff = lazy(() => import('../pipelines/VersionDiff'));

interface PipelineDiffProps {
  runs: Run[];
  base: string;
  search: CompareSearch;
  onShow: (patch: CompareSearch) => void;
}

/** What the pipeline of one run does differently from the baseline's; it is read when it is asked for. */
export function PipelineDiff({ runs, base, search, onShow }: PipelineDiffProps) {
  const { t } = useTranslation();
  const baseline = runs.find(({ id }) => id === base);
  const from = baseline?.pipeline?.version_id;
  const others = runs.filter(({ id }) => id !== base);
  const differs = ({ pipeline }: Run) => Boolean(pipeline?.version_id) && pipeline?.version_id !== from;
  const other = others.find(({ id }) => id === search.other) ?? others.find(differs) ?? others[0];
  const to = other?.pipeline?.version_id;
  return (
    <div className={classes.pipelines}>
      <Group gap="sm" align="flex-end">
        <NativeSelect
          label={t('compare.pipelineOf', { name: baseline?.name })}
          value={other?.id}
          data={others.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) => onShow({ other: event.currentTarget.value, step: undefined })}
        />
        {from && to && from !== to && !search.diff && (
          <Button variant="default" onClick={() => onShow({ diff: 'graph' })}>
            {t('compare.showPipelines')}
          </Button>
        )}
      </Group>
      {!(from && to) && (
        <Text size="sm" c="dimmed">
          {t('compare.noVersion')}
        </Text>
      )}
      {from && from === to && (
        <Text size="sm" c="dimmed">
          {t('compare.sameVersion')}
        </Text>
      )}
      {from && to && from !== to && search.diff && (
        <Suspense fallback={<Awaiting what={t('diff.await')} />}>
          <VersionDiff from={from} to={to} search={search} onShow={onShow} />
        </Suspense>
      )}
    </div>
  );
}
