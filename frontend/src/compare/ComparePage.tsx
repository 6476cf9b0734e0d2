import { Group, SegmentedControl, Switch, Title } from '@mantine/core';
import { IconArrowsDiff, IconChartLine, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Comparison, comparisonQuery } from '../api/compare';
import { ButtonLink, TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { SearchField } from '../table/SearchField';
import classes from './Compare.module.css';
import { CompareTable } from './CompareTable';
import { Curves } from './Curves';
import type { CompareSearch } from './compareSearch';
import { MergedVisuals } from './MergedVisuals';
import { axes } from './measure';
import { Parallel } from './Parallel';
import { PipelineDiff } from './PipelineDiff';
import { Scatter } from './Scatter';

const route = getRouteApi('/compare');

/** Runs beside each other. */
export function ComparePage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const ids = search.runs ?? [];
  const { data, error, refetch } = useQuery(comparisonQuery(ids));
  const what = t('compare.await');
  return (
    <Page
      title={t('pages.compare')}
      trail={<TextLink to="/runs">{t('pages.runs')}</TextLink>}
      actions={
        ids.length >= 2 && (
          <ButtonLink
            to="/scaling"
            search={{ runs: ids }}
            variant="default"
            leftSection={<IconChartLine size={16} aria-hidden />}
          >
            {t('compare.scaling')}
          </ButtonLink>
        )
      }
    >
      {ids.length < 2 && (
        <Empty icon={<IconArrowsDiff aria-hidden />} title={t('compare.emptyTitle')} text={t('compare.emptyText')}>
          <ButtonLink to="/runs">{t('pages.runs')}</ButtonLink>
        </Empty>
      )}
      {error && <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />}
      {ids.length >= 2 && !data && !error && <Awaiting what={what} rows={8} />}
      {data && <Compared comparison={data} search={search} />}
    </Page>
  );
}

function Compared({ comparison, search }: { comparison: Comparison; search: CompareSearch }) {
  const { t } = useTranslation();
  const navigate = route.useNavigate();
  const change = (patch: CompareSearch) =>
    void navigate({ search: (old) => ({ ...old, ...patch }), replace: true, resetScroll: false });
  const { runs } = comparison;
  const base = runs.some(({ id }) => id === search.base) ? (search.base as string) : (runs[0]?.id ?? '');
  const align = search.align ?? 'step';
  const all = axes(comparison);
  const curves = (comparison.series ?? []).filter(({ runs: lines }) =>
    lines?.some(({ series }) => Number(series?.total ?? 0) > 1),
  );
  return (
    <>
      <Group gap="md">
        <SearchField
          w={280}
          aria-label={t('compare.search')}
          placeholder={t('compare.search')}
          leftSection={<IconSearch size={16} aria-hidden />}
          q={search.q}
          onSearch={(q) => change({ q })}
        />
        <Switch
          label={t('compare.diffOnly')}
          checked={!search.all}
          onChange={(event) => change({ all: event.currentTarget.checked ? undefined : true })}
        />
        <Switch
          label={t('compare.runsAsRows')}
          checked={search.rows === 'runs'}
          onChange={(event) => change({ rows: event.currentTarget.checked ? 'runs' : undefined })}
        />
      </Group>
      <CompareTable comparison={comparison} search={search} base={base} onChange={change} />
      {all.length > 1 && (
        <Section title={t('compare.parallel')}>
          <Parallel
            all={all}
            runs={runs}
            axes={search.axes}
            mark={search.mark}
            brush={search.brush}
            onChange={change}
          />
        </Section>
      )}
      {all.some(({ key }) => key.startsWith('metric:')) && (
        <Section title={t('compare.scatter')}>
          <Scatter comparison={comparison} runs={runs} x={search.x} y={search.y} onAxes={change} />
        </Section>
      )}
      {curves.length > 0 && (
        <Section
          title={t('compare.curves')}
          beside={
            <SegmentedControl
              size="xs"
              aria-label={t('compare.x')}
              value={align}
              data={[
                { value: 'step', label: t('metrics.axis.step') },
                { value: 'time', label: t('compare.seconds') },
              ]}
              onChange={(value) => change({ align: value === 'time' ? 'time' : undefined })}
            />
          }
        >
          <div className={classes.figures}>
            {curves.map((series) => (
              <Curves key={`${series.step_name}/${series.name}`} series={series} runs={runs} align={align} />
            ))}
          </div>
        </Section>
      )}
      <MergedVisuals runs={runs} />
      <Section title={t('compare.pipelines')}>
        <PipelineDiff runs={runs} base={base} search={search} onShow={change} />
      </Section>
    </>
  );
}

function Section({ title, beside, children }: { title: string; beside?: ReactNode; children: ReactNode }) {
  return (
    <section className={`panel ${classes.section}`} aria-label={title}>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {title}
        </Title>
        {beside}
      </Group>
      {children}
    </section>
  );
}
