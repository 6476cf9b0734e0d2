import { Title } from '@mantine/core';
import { IconGitCompare } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { pipelineOf, pipelineQuery, versionQuery, versionsQuery } from '../api/pipelines';
import { TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { PipelineField } from '../newrun/PipelineField';
import classes from './Diff.module.css';
import type { DiffSearch } from './diffSearch';

const VersionDiff = lazy(() => import('./VersionDiff'));

const route = getRouteApi('/diff');

/** What two versions do differently, of whatever pipelines they are. */
export function DiffPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const { from, to } = search;
  const navigate = route.useNavigate();
  const change = (patch: DiffSearch) =>
    void navigate({ search: (old) => ({ ...old, ...patch }), replace: true, resetScroll: false });
  return (
    <Page title={t('pages.diff')} trail={<TextLink to="/pipelines">{t('pages.pipelines')}</TextLink>}>
      <div className={classes.sides}>
        <Side title={t('diff.from')} versionID={from} onVersion={(id) => change({ from: id })} />
        <Side title={t('diff.to')} versionID={to} onVersion={(id) => change({ to: id })} />
      </div>
      {from && to ? (
        <Suspense fallback={<Awaiting what={t('diff.await')} />}>
          <VersionDiff from={from} to={to} search={search} onShow={change} />
        </Suspense>
      ) : (
        <Empty icon={<IconGitCompare aria-hidden />} title={t('diff.emptyTitle')} text={t('diff.emptyText')} />
      )}
    </Page>
  );
}

interface SideProps {
  title: string;
  versionID: string | undefined;
  onVersion: (id: string | undefined) => void;
}

function Side({ title, versionID, onVersion }: SideProps) {
  const version = useQuery({ ...versionQuery(versionID ?? ''), enabled: Boolean(versionID) });
  const [chosen, setChosen] = useState<string>();
  const pipelineID = chosen ?? pipelineOf(version.data);
  const pipeline = useQuery({ ...pipelineQuery(pipelineID ?? ''), enabled: Boolean(pipelineID) });
  const versions = useQuery({ ...versionsQuery(pipelineID ?? ''), enabled: Boolean(pipelineID) });
  const items = versions.data?.items ?? [];
  const known = items.some(({ id }) => id === versionID);
  const first = items[0]?.id;
  // The field shows the first version of a pipeline that was just chosen; the URL has to say the same.
  const missing = chosen && first && !known ? first : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the version that is missing is news
  useEffect(() => {
    if (missing) onVersion(missing);
  }, [missing]);
  return (
    <section className={`panel ${classes.side}`} aria-label={title}>
      <Title order={2} size="h5" mb="xs">
        {title}
      </Title>
      <PipelineField
        pipeline={pipeline.data}
        versions={items}
        versionID={versionID}
        defaultVersionID={pipeline.data?.default_version?.id}
        error={undefined}
        onPipeline={(id) => {
          setChosen(id);
          onVersion(undefined);
        }}
        onVersion={onVersion}
      />
    </section>
  );
}
