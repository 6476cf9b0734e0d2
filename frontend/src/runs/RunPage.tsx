import { Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { useLiveRun } from '../api/useLiveRun';
import { announce } from '../app/announce';
import { TextLink } from '../app/links';
import { Page } from '../app/Page';
import { Awaiting } from '../feedback/Awaiting';
import { Failure } from '../feedback/Failure';
import { ParameterTable } from '../feedback/ParameterTable';
import { StatusBadge, useStatusWord } from '../status/StatusBadge';
import { FailureBanner } from './FailureBanner';
import { likelyNode, measuredNode } from './focusNode';
import { LiveBadge } from './LiveBadge';
import { MetricsCard } from './MetricsCard';
import { NodePanel } from './NodePanel';
import { RunActions } from './RunActions';
import { RunGraph } from './RunGraph';
import classes from './RunPage.module.css';
import { RunSummary } from './RunSummary';
import { noNode, type RunSearch, type RunTab } from './runSearch';
import { StepsTable } from './StepsTable';
import { ThroughputCard } from './ThroughputCard';
import { WaitingNote } from './WaitingNote';
import { Warnings } from './Warnings';
import { WorkflowYAML } from './WorkflowYAML';

const route = getRouteApi('/runs/$runId');

export function RunPage() {
  const { t } = useTranslation();
  const { runId } = route.useParams();
  const { data: run, error, refetch, liveness } = useLiveRun(runId);

  const trail = <TextLink to="/runs">{t('runs.title')}</TextLink>;
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
          <StatusBadge phase={run.status} />
          <LiveBadge liveness={liveness} />
        </>
      }
      actions={<RunActions run={run} />}
    >
      <RunBody run={run} />
    </Page>
  );
}

function RunBody({ run }: { run: Run }) {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const nodes = (run.nodes ?? []) as RunNode[];
  const chosen = search.node ? nodes.find((node) => node.id === search.node) : likelyNode(run);
  useSpokenStatus(run);

  const show = (patch: RunSearch) => void navigate({ search: (old) => ({ ...old, ...patch }), replace: true });
  const choose = (id: string) => show({ node: id });
  const tab = search.tab ?? 'graph';

  return (
    <>
      <RunSummary run={run} />
      <WaitingNote run={run} onShowStep={choose} />
      <FailureBanner run={run} onShowLog={(id) => show({ node: id, panel: 'log' })} />
      <Warnings warnings={run.warnings ?? []} />
      <div className={classes.measured}>
        <MetricsCard run={run} />
        <ThroughputCard run={run} node={measuredNode(run, chosen)} />
      </div>
      <div className={classes.work} data-panel={chosen ? true : undefined}>
        <Tabs
          value={tab}
          onChange={(to) => show({ tab: to as RunTab })}
          className={`panel ${classes.tabs}`}
          keepMounted={false}
        >
          <Tabs.List>
            <Tabs.Tab value="graph">{t('run.graph')}</Tabs.Tab>
            <Tabs.Tab value="steps">{t('run.steps')}</Tabs.Tab>
            <Tabs.Tab value="parameters">{t('run.parameters')}</Tabs.Tab>
            <Tabs.Tab value="yaml">{t('run.yaml')}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="graph" className={classes.tab}>
            <RunGraph run={run} selected={chosen?.id} onSelect={choose} />
          </Tabs.Panel>
          <Tabs.Panel value="steps" className={classes.tab}>
            <StepsTable run={run} selected={chosen?.id} onSelect={choose} />
          </Tabs.Panel>
          <Tabs.Panel value="parameters" className={classes.tab}>
            <ParameterTable
              parameters={run.parameters ?? []}
              empty={t('run.noParameters')}
              caption={t('run.parameters')}
            />
          </Tabs.Panel>
          <Tabs.Panel value="yaml" className={classes.tab}>
            <WorkflowYAML run={run} />
          </Tabs.Panel>
        </Tabs>
        {chosen && (
          <NodePanel
            key={chosen.id}
            run={run}
            node={chosen}
            tab={search.panel ?? 'log'}
            onTab={(panel) => show({ panel, node: chosen.id })}
            onClose={() => show({ node: noNode, panel: undefined })}
          />
        )}
      </div>
    </>
  );
}

/** Changes of the status are spoken; those of the log are not. */
function useSpokenStatus(run: Run) {
  const { t } = useTranslation();
  const word = useStatusWord()(run.status);
  useEffect(() => announce(t('run.nowStatus', { name: run.name, status: word })), [t, run.name, word]);
}
