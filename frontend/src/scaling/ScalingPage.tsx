import { Alert, Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconChartLine, IconDownload } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import {
  exportScaling,
  type ScalingFormat,
  type ScalingLine,
  type ScalingReport,
  type ScalingResult,
  scalingQuery,
  sweepsQuery,
} from '../api/scaling';
import { ButtonLink, TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { save } from '../metrics/download';
import { CellsTable } from './CellsTable';
import { Choices } from './Choices';
import { Details } from './Details';
import classes from './Scaling.module.css';
import { ScalingCharts } from './ScalingChart';
import { Stragglers } from './Stragglers';
import type { ScalingSearch } from './scalingSearch';
import { useReportSentence } from './sentence';

const route = getRouteApi('/scaling');

/** How throughput changes with a parameter of runs: the runs of a sweep, or any others. */
export function ScalingPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const chosen = Boolean(search.runs?.length || search.experiment);
  const { data, error, refetch } = useQuery(scalingQuery(search));
  const what = t('scaling.await');
  const title = data?.experiment_name ? t('scaling.titleOf', { name: data.experiment_name }) : t('pages.scaling');
  return (
    <Page
      title={chosen ? title : t('pages.scaling')}
      trail={<TextLink to="/runs">{t('pages.runs')}</TextLink>}
      actions={chosen && data?.result && <Exports search={search} />}
    >
      {!chosen && <Sweeps />}
      {chosen && error && <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />}
      {chosen && !data && !error && <Awaiting what={what} rows={8} />}
      {chosen && data && !error && <Report report={data} search={search} />}
    </Page>
  );
}

/** The experiments to choose from, those of sweeps first. */
function Sweeps() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(sweepsQuery);
  const what = t('await.experiments');
  const sweeps = (data ?? []).filter(({ description }) => description?.startsWith('argosy sweep '));
  return (
    <>
      {error && <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />}
      <Empty icon={<IconChartLine aria-hidden />} title={t('scaling.emptyTitle')} text={t('scaling.emptyText')}>
        <ButtonLink to="/runs">{t('pages.runs')}</ButtonLink>
        <ButtonLink to="/experiments" variant="default">
          {t('pages.experiments')}
        </ButtonLink>
      </Empty>
      {sweeps.length > 0 && (
        <section className={`panel ${classes.section}`} aria-label={t('scaling.sweeps')}>
          <Title order={2} size="h5">
            {t('scaling.sweeps')}
          </Title>
          <Stack gap={4} align="flex-start">
            {sweeps.map(({ id, name, description }) => (
              <div key={id}>
                <TextLink to="/scaling" search={{ experiment: id }}>
                  {name}
                </TextLink>
                <Text size="xs" c="dimmed" className="mono break">
                  {description}
                </Text>
              </div>
            ))}
          </Stack>
        </section>
      )}
    </>
  );
}

function Report({ report, search }: { report: ScalingReport; search: ScalingSearch }) {
  const { t } = useTranslation();
  const say = useReportSentence();
  const navigate = route.useNavigate();
  const change = (patch: ScalingSearch) =>
    void navigate({ search: (old) => ({ ...old, ...patch }), replace: true, resetScroll: false });
  const { result } = report;
  return (
    <>
      <Group gap="md" align="flex-start">
        <Choices report={report} search={search} onChange={change} />
      </Group>
      {(report.open ?? 0) > 0 && (
        <Text size="sm" role="status">
          {t('scaling.open', { count: report.open })}
        </Text>
      )}
      {report.refused && (
        <Alert
          color="yellow"
          variant="outline"
          title={t('scaling.refused')}
          icon={<IconAlertTriangle aria-hidden />}
          styles={{ title: { color: 'var(--ar-warn)' }, icon: { color: 'var(--ar-warn)' } }}
        >
          {say(report.refused)}
        </Alert>
      )}
      {result && <Result result={result} method={report.method ?? ''} />}
    </>
  );
}

function Result({ result, method }: { result: ScalingResult; method: string }) {
  const { t } = useTranslation();
  const say = useReportSentence();
  return (
    <>
      <section className={`panel ${classes.section}`} aria-label={t('scaling.verdicts')}>
        <Title order={2} size="h5">
          {t('scaling.verdicts')}
        </Title>
        <ul className={classes.verdicts}>
          {(result.verdicts ?? []).map((verdict) => (
            <li key={verdict}>{say(verdict)}</li>
          ))}
        </ul>
        {(result.warnings ?? []).map((warning) => (
          <Group key={warning} gap={6} wrap="nowrap" align="flex-start">
            <IconAlertTriangle size={16} color="var(--ar-warn)" role="img" aria-label={t('scaling.warning')} />
            <Text size="sm" className="break">
              {say(warning)}
            </Text>
          </Group>
        ))}
      </section>
      {(result.lines ?? []).map((line) => (
        <Line key={JSON.stringify(line.held ?? {})} report={result} line={line} />
      ))}
      <Details report={result} method={method} />
    </>
  );
}

function Line({ report, line }: { report: ScalingResult; line: ScalingLine }) {
  const { t } = useTranslation();
  const held = Object.entries(line.held ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  const what = report.by ? t('scaling.metricBy', { metric: report.metric, by: report.by }) : (report.metric ?? '');
  const title = held ? `${what}, ${held}` : what;
  return (
    <section className={`panel ${classes.section}`} aria-label={title}>
      <Group gap="sm">
        <Title order={2} size="h5">
          {title}
        </Title>
        {line.kind && (
          <Badge variant="outline" tt="none">
            {line.kind === 'weak' ? t('scaling.weak') : t('scaling.strong')}
          </Badge>
        )}
        {line.kind && (
          <Text size="sm" c="dimmed">
            {line.kind === 'weak' ? t('scaling.weakText') : t('scaling.strongText')}
          </Text>
        )}
      </Group>
      <CellsTable report={report} line={line} title={t('scaling.cells', { what: title })} />
      <ScalingCharts report={report} line={line} />
      <Stragglers line={line} />
    </section>
  );
}

const formats: [ScalingFormat, string][] = [
  ['html', 'HTML'],
  ['md', 'Markdown'],
  ['csv', 'CSV'],
  ['json', 'JSON'],
];

/** The report as files, made by the server as argosy report makes them. */
function Exports({ search }: { search: ScalingSearch }) {
  const { t } = useTranslation();
  const load = useMutation({
    mutationFn: (format: ScalingFormat) => exportScaling(search, format),
    onSuccess: ({ name, type, text }) => save(new Blob([text], { type }), name),
  });
  return (
    <>
      {formats.map(([format, name]) => (
        <Button
          key={format}
          size="xs"
          variant="default"
          leftSection={<IconDownload size={14} aria-hidden />}
          loading={load.isPending && load.variables === format}
          aria-label={t('scaling.exportAs', { format: name })}
          onClick={() => load.mutate(format)}
        >
          {name}
        </Button>
      ))}
      {load.error && <Failure title={t('scaling.exportFailed')} error={load.error} />}
    </>
  );
}
