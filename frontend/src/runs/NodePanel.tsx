import { Button, CloseButton, Group, Tabs, Text, Title } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run, RunNode } from '../api/client';
import { TextLink } from '../app/links';
import { Awaiting } from '../feedback/Awaiting';
import { ParameterTable } from '../feedback/ParameterTable';
import { Duration, Time } from '../format/Duration';
import { stepLabels, stepName } from '../graph/model';
import { useTerm } from '../i18n/useTerm';
import { StatusBadge } from '../status/StatusBadge';
import { isFinal } from '../status/status';
import { useSentence } from '../waiting/useSentence';
import { runsSomething } from './focusNode';
import { NodeLog } from './NodeLog';
import { RetryDialog } from './RetryDialog';
import classes from './RunPage.module.css';
import type { NodeTab, RunSearch, ShowPatch } from './runSearch';

const WhyItWaits = lazy(() => import('../waiting/WhyItWaits').then((module) => ({ default: module.WhyItWaits })));

interface NodePanelProps {
  run: Run;
  node: RunNode;
  search: RunSearch;
  onShow: ShowPatch;
  onClose: () => void;
  onRetried: () => void;
}

/** One step of a run: what it printed, what went in and out, and how it went. */
export function NodePanel({ run, node, search, onShow, onClose, onRetried }: NodePanelProps) {
  const { t } = useTranslation();
  const sentence = useSentence();
  const [retrying, setRetrying] = useState(false);
  const name = labelOf(run, node);
  const opener = useOpener();
  // A step that waits no more has no reason to show.
  const tab = search.panel === 'waits' && !node.waiting ? 'log' : (search.panel ?? 'log');

  const close = () => {
    onClose();
    opener.current?.focus();
  };
  useWindowEvent('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    // Escape in a field clears the field, and in a dialog closes the dialog.
    const elsewhere =
      event.target instanceof HTMLInputElement || document.querySelector('[role="dialog"], [role="menu"]');
    if (!elsewhere) close();
  });

  return (
    <section className={`panel ${classes.node}`} aria-label={t('node.panel', { name })}>
      <Group className={classes.nodeHead} justify="space-between" wrap="nowrap">
        <Group gap="sm">
          <Title order={2} size="h5" className={classes.wrap}>
            {name}
          </Title>
          <StatusBadge phase={node.phase} />
          <Text size="sm" c="dimmed">
            <Duration start={node.started_at} end={node.finished_at} live={!isFinal(node.phase)} />
          </Text>
          {node.cached_from?.run_id && (
            <TextLink to="/runs/$runId" params={{ runId: node.cached_from.run_id }} size="sm">
              {t('node.cached')}
            </TextLink>
          )}
        </Group>
        <Group gap={4} wrap="nowrap">
          {isFinal(run.status) && runsSomething(node) && (
            <Button size="compact-sm" variant="default" onClick={() => setRetrying(true)}>
              {t('retry.fromHere')}
            </Button>
          )}
          <CloseButton aria-label={t('node.close')} onClick={close} />
        </Group>
      </Group>
      {retrying && <RetryDialog run={run} step={node} onClose={() => setRetrying(false)} onRetried={onRetried} />}
      {node.waiting && (
        <Group gap="xs" px="md" pb={6} justify="space-between">
          <Text size="sm" className="break" role="status">
            {t('node.waits', { why: sentence(node.waiting) })}
          </Text>
          {tab !== 'waits' && (
            <Button size="compact-xs" variant="default" onClick={() => onShow({ panel: 'waits' })}>
              {t('pending.title')}
            </Button>
          )}
        </Group>
      )}
      <Tabs
        value={tab}
        onChange={(to) => onShow({ panel: to as NodeTab })}
        className={classes.nodeTabs}
        keepMounted={false}
      >
        <Tabs.List>
          {node.waiting && <Tabs.Tab value="waits">{t('pending.title')}</Tabs.Tab>}
          <Tabs.Tab value="log">{t('node.log')}</Tabs.Tab>
          <Tabs.Tab value="io">{t('node.io')}</Tabs.Tab>
          <Tabs.Tab value="details">{t('node.details')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="waits" className={classes.nodeTab} tabIndex={0}>
          <Suspense fallback={<Awaiting what={t('pending.await')} rows={4} />}>
            <WhyItWaits run={run} node={node} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="log" className={classes.nodeTab}>
          <NodeLog run={run} node={node} search={search} onShow={onShow} />
        </Tabs.Panel>
        <Tabs.Panel value="io" className={classes.nodeTab} tabIndex={0}>
          <InputsOutputs node={node} />
        </Tabs.Panel>
        <Tabs.Panel value="details" className={classes.nodeTab} tabIndex={0}>
          <Details node={node} />
        </Tabs.Panel>
      </Tabs>
    </section>
  );
}

/** What had the focus when the panel opened, to give it back. */
function useOpener() {
  const opener = useRef<HTMLElement | null>(null);
  useEffect(() => {
    opener.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  }, []);
  return opener;
}

/** The step's name, with the items of the loops that it is in. */
const labelOf = (run: Run, node: RunNode) => stepLabels((run.nodes ?? []) as RunNode[]).get(node.id) ?? stepName(node);

function InputsOutputs({ node }: { node: RunNode }) {
  const { t } = useTranslation();
  const artifacts = (node.artifacts ?? []).map(({ name, key }) => ({ name, value: key }));
  return (
    <>
      <PanelHeading text={t('node.inputs')} />
      <ParameterTable parameters={node.inputs ?? []} empty={t('node.noInputs')} caption={t('node.inputs')} />
      <PanelHeading text={t('node.outputs')} />
      <ParameterTable parameters={node.outputs ?? []} empty={t('node.noOutputs')} caption={t('node.outputs')} />
      <PanelHeading text={t('node.artifacts')} />
      <ParameterTable
        parameters={artifacts}
        empty={t('node.noArtifacts')}
        caption={t('node.artifacts')}
        valueHeader={t('node.key')}
      />
    </>
  );
}

function PanelHeading({ text }: { text: string }) {
  return (
    <Title order={3} size="h6" px="md" pt="md" pb={4}>
      {text}
    </Title>
  );
}

function Details({ node }: { node: RunNode }) {
  const { t } = useTranslation();
  const kind = useTerm('stepKind');
  const rows: [string, React.ReactNode][] = [
    [t('field.status'), <StatusBadge key="status" phase={node.phase} plain />],
    [t('field.message'), node.message],
    [t('field.exitCode'), node.exit_code],
    [t('field.started'), <Time key="started" at={node.started_at} />],
    [t('field.finished'), <Time key="finished" at={node.finished_at} />],
    [
      t('field.duration'),
      <Duration key="d" start={node.started_at} end={node.finished_at} live={!isFinal(node.phase)} />,
    ],
    [t('field.type'), kind(node.type)],
    [t('field.template'), node.template],
    [t('field.pod'), node.pod_name && <span className="mono">{node.pod_name}</span>],
    [
      t('field.id'),
      <span key="id" className="mono">
        {node.id}
      </span>,
    ],
  ];
  return (
    <dl className={classes.details}>
      {rows.map(([label, value]) => (
        <div key={label} style={{ display: 'contents' }}>
          <dt>{label}</dt>
          <dd>{value || t('field.none')}</dd>
        </div>
      ))}
    </dl>
  );
}
