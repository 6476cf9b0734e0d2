import { Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useCallback, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { useLiveRun } from '../api/useLiveRun';
import { announce } from '../app/announce';
import { TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { preloadLogView } from '../logs/LazyLogView';
import { StatusBadge, useStatusWord } from '../status/StatusBadge';
import { shownStatus } from '../status/status';
import { Timeline } from '../timeline/Timeline';
import { FailureBanner } from './FailureBanner';
import { likelyNode } from './focusNode';
import { LiveBadge } from './LiveBadge';
import { MetricsCard } from './MetricsCard';
import { NodePanel } from './NodePanel';
import { RunActions } from './RunActions';
import { RunGraph } from './RunGraph';
import classes from './RunPage.module.css';
import { RunParameters } from './RunParameters';
import { RunSummary } from './RunSummary';
import { noNode, type RunSearch, type RunTab, runTabs } from './runSearch';
import { StepsTable } from './StepsTable';
import { WaitingNote } from './WaitingNote';
import { Warnings } from './Warnings';
import { WorkflowYAML } from './WorkflowYAML';

const MetricsTab = lazy(() => import('../metrics/MetricsTab').then((module) => ({ default: module.MetricsTab })));
const OutputsTab = lazy(() => import('../outputs/OutputsTab').then((module) => ({ default: module.OutputsTab })));

const LogsTab = lazy(() => import('./LogsTab').then((module) => ({ default: module.LogsTab })));
const JobTab = lazy(() => import('../cluster/JobTab').then((module) => ({ default: module.JobTab })));
const EventsTab = lazy(() => import('../cluster/EventsTab').then((module) => ({ default: module.EventsTab })));

const route = getRouteApi('/runs/$runId');

export function RunPage() {
  const { t } = useTranslation();
  const { runId } = route.useParams();
  const { data: run, error, refetch, liveness, reconnect } = useLiveRun(runId);
  // Most readers want a log, and its code comes while the run is read.
  useEffect(preloadLogView, []);

  const trail = <TextLink to="/runs">{t('pages.runs')}</TextLink>;
  if (!run) {
    return (
      <Page title={t('field.run')} trail={trail}>
        {error ? (
          <Failure title={t('failure.title', { what: t('await.run') })} error={error} onRetry={() => void refetch()} />
        ) : (
          <Awaiting what={t('await.run')} rows={8} />
        )}
      </Page>
    );
  }
  return (
    <Page
      title={run.name}
      trail={trail}
      badge={
        <>
          <StatusBadge phase={shownStatus(run)} />
          <LiveBadge liveness={liveness} />
        </>
      }
      actions={<RunActions run={run} onRetried={reconnect} />}
    >
      <RunBody run={run} onRetried={reconnect} />
    </Page>
  );
}

function RunBody({ run, onRetried }: { run: Run; onRetried: () => void }) {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useSpokenStatus(run);

  const show = useCallback(
    (patch: RunSearch) =>
      void navigate({
        search: (old) => ({ ...old, ...patch }),
        hash: (old) => old ?? '',
        replace: !patch.tab,
        resetScroll: patch.tab !== undefined,
      }),
    [navigate],
  );
  // What is chosen from a head or a table is shown where a step can be.
  const onShowStep = useCallback((node: string) => show({ node, q: undefined, tab: 'graph' }), [show]);
  const showStep = (patch: RunSearch) =>
    show({ ...patch, tab: beside.has(search.tab ?? 'graph') ? search.tab : 'graph' });
  const tab = search.tab ?? 'graph';
  const page = { run, search, onShow: show };
  const withStep = { ...page, onRetried };
  const words: Record<RunTab, string> = {
    graph: t('run.graph'),
    timeline: t('run.timeline'),
    steps: t('run.steps'),
    logs: t('run.logs'),
    metrics: t('run.metrics'),
    outputs: t('run.outputs'),
    job: t('run.job'),
    events: t('run.events'),
    parameters: t('run.parameters'),
    yaml: t('run.yaml'),
  };

  return (
    <>
      <RunSummary run={run} />
      <WaitingNote run={run} onShowWhy={(node) => showStep({ node, panel: 'waits' })} />
      <FailureBanner run={run} onShowLog={(node) => showStep({ node, panel: 'log' })} onRetried={onRetried} />
      <Warnings warnings={run.warnings ?? []} />
      {tab !== 'metrics' && <MetricsCard run={run} onShowAll={() => show({ tab: 'metrics' })} />}
      <Tabs value={tab} onChange={(to) => show({ tab: to as RunTab })} className={classes.tabs} keepMounted={false}>
        <Tabs.List className={classes.list}>
          {runTabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {words[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Sheet tab="graph">
          <WithStep {...withStep}>
            {(chosen, choose) => <RunGraph {...page} selected={chosen} onSelect={choose} />}
          </WithStep>
        </Sheet>
        <Sheet tab="timeline">
          <WithStep {...withStep}>
            {(chosen, choose) => <Timeline {...page} selected={chosen} onSelect={choose} />}
          </WithStep>
        </Sheet>
        <Sheet tab="steps">
          <WithStep {...withStep}>
            {(chosen, choose) => <StepsTable {...page} selected={chosen} onSelect={choose} />}
          </WithStep>
        </Sheet>
        <Sheet tab="logs">
          <Suspense fallback={<Awaiting what={t('await.log')} rows={8} />}>
            <LogsTab {...page} />
          </Suspense>
        </Sheet>
        <Sheet tab="metrics">
          <Suspense fallback={<Awaiting what={t('await.series')} rows={8} />}>
            <MetricsTab {...page} />
          </Suspense>
        </Sheet>
        <Sheet tab="outputs">
          <Suspense fallback={<Awaiting what={t('await.visuals')} rows={8} />}>
            <OutputsTab {...page} />
          </Suspense>
        </Sheet>
        <Sheet tab="job">
          <Suspense fallback={<Awaiting what={t('job.await')} rows={6} />}>
            <JobTab {...page} />
          </Suspense>
        </Sheet>
        <Sheet tab="events">
          <Suspense fallback={<Awaiting what={t('events.await')} rows={6} />}>
            <EventsTab {...page} onShowStep={onShowStep} />
          </Suspense>
        </Sheet>
        <Sheet tab="parameters">
          <RunParameters run={run} />
        </Sheet>
        <Sheet tab="yaml">
          <div className={`panel ${classes.main}`}>
            <WorkflowYAML run={run} />
          </div>
        </Sheet>
      </Tabs>
    </>
  );
}

/** The tabs that have the chosen step beside them. */
const beside: ReadonlySet<RunTab> = new Set(['graph', 'timeline', 'steps']);

function Sheet({ tab, children }: { tab: RunTab; children: ReactNode }) {
  return (
    <Tabs.Panel value={tab} className={`${classes.tab} ${classes.sheet}`}>
      {children}
    </Tabs.Panel>
  );
}

interface WithStepProps {
  run: Run;
  search: RunSearch;
  onShow: (patch: RunSearch) => void;
  onRetried: () => void;
  children: (chosen: string | undefined, choose: (id: string) => void) => ReactNode;
}

/** A view of the steps, and beside it the one that is chosen. */
function WithStep({ run, search, onShow, onRetried, children }: WithStepProps) {
  const nodes = (run.nodes ?? []) as RunNode[];
  const chosen = search.node ? nodes.find((node) => node.id === search.node) : likelyNode(run);
  const choose = useCallback((node: string) => onShow({ node, logs: undefined, find: undefined }), [onShow]);
  return (
    <div className={classes.work} data-panel={chosen ? true : undefined}>
      <div className={`panel ${classes.main}`}>{children(chosen?.id, choose)}</div>
      {chosen && (
        <NodePanel
          key={chosen.id}
          run={run}
          node={chosen}
          search={search}
          onShow={(patch) => onShow({ node: chosen.id, ...patch })}
          onRetried={onRetried}
          onClose={() => onShow({ node: noNode, panel: undefined, logs: undefined })}
        />
      )}
    </div>
  );
}

/** Changes of the status are spoken; those of the log are not. */
function useSpokenStatus(run: Run) {
  const { t } = useTranslation();
  const word = useStatusWord()(shownStatus(run));
  useEffect(() => announce(t('run.nowStatus', { name: run.name, status: word })), [t, run.name, word]);
}
