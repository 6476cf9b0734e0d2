import { SegmentedControl } from '@mantine/core';
import { IconGitCompare } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { PipelineChange } from '../api/client';
import { diffQuery, graphQuery, templateQuery } from '../api/pipelines';
import { Awaiting } from '../feedback/Awaiting';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { FoldableGraph } from '../graph/FoldableGraph';
import type { GraphSearch } from '../graph/graphSearch';
import { ChangesTable } from './ChangesTable';
import classes from './Diff.module.css';
import type { DiffView } from './diffSearch';
import { mergeGraphs } from './mergeGraphs';

const YAMLDiff = lazy(() => import('../yaml/YAMLDiff'));

interface VersionDiffProps {
  from: string;
  to: string;
  search: DiffView;
  onShow: (patch: DiffView) => void;
}

/** What two versions do differently: as a list, in one graph, and in their YAML. */
export default function VersionDiff(props: VersionDiffProps) {
  const { t } = useTranslation();
  const view = props.search.diff ?? 'changes';
  return (
    <>
      <SegmentedControl
        aria-label={t('diff.view')}
        style={{ alignSelf: 'flex-start' }}
        value={view}
        data={[
          { value: 'changes', label: t('diff.changes') },
          { value: 'graph', label: t('diff.graph') },
          { value: 'yaml', label: 'YAML' },
        ]}
        onChange={(chosen) => props.onShow({ diff: chosen as DiffView['diff'], step: undefined })}
      />
      {view === 'yaml' ? <Manifests {...props} /> : <Changes {...props} graph={view === 'graph'} />}
    </>
  );
}

function Changes({ graph, ...props }: VersionDiffProps & { graph: boolean }) {
  const { t } = useTranslation();
  const { from, to } = props;
  const { data: changes, error, refetch } = useQuery(diffQuery(from, to));
  const what = t('diff.await');
  if (error) return <Failure title={t('failure.title', { what })} error={error} onRetry={() => void refetch()} />;
  if (!changes) return <Awaiting what={what} />;
  if (changes.length === 0) {
    return <Empty icon={<IconGitCompare aria-hidden />} title={t('diff.sameTitle')} text={t('diff.sameText')} />;
  }
  if (graph) return <Graphs {...props} changes={changes} />;
  return (
    <div className="panel">
      <ChangesTable changes={changes} />
    </div>
  );
}

function Graphs({ from, to, search, onShow, changes }: VersionDiffProps & { changes: PipelineChange[] }) {
  const { t } = useTranslation();
  const left = useQuery(versionGraph(from));
  const right = useQuery(versionGraph(to));
  const what = t('await.graph');
  const error = left.error ?? right.error;
  if (error) {
    const retry = () => void Promise.all([left.refetch(), right.refetch()]);
    return <Failure title={t('failure.title', { what })} error={error} onRetry={retry} />;
  }
  if (!left.data || !right.data) return <Awaiting what={what} />;
  const chosen = changes.filter(({ step = '' }) => step === search.step || step.startsWith(`${search.step}/`));
  // What is of no step has no mark in the graph.
  const whole = changes.filter(({ step }) => !step);
  const below = chosen.length > 0 ? chosen : whole;
  return (
    <div className="panel">
      <div className={classes.graph}>
        <FoldableGraph
          graph={mergeGraphs(left.data, right.data, changes)}
          search={{ q: search.find, opened: search.opened, closed: search.closed }}
          onShow={(patch) => onShow(findIn(patch))}
          selected={search.step}
          onSelect={(step) => onShow({ step: step === search.step ? undefined : step })}
        />
      </div>
      {chosen.length === 0 && whole.length < changes.length && <p className={classes.hint}>{t('diff.chooseStep')}</p>}
      {below.length > 0 && <ChangesTable changes={below} />}
    </div>
  );
}

// What a page searches for by q is something else.
const findIn = (patch: GraphSearch): DiffView => {
  const { q, hide: _, ...groups } = patch;
  return 'q' in patch ? { ...groups, find: q } : groups;
};

// A version names its graph and its manifest whatever its pipeline is.
const versionGraph = (version: string) => graphQuery('', version);
const versionManifest = (version: string) => templateQuery('', version);

function Manifests({ from, to }: VersionDiffProps) {
  const { t } = useTranslation();
  const left = useQuery(versionManifest(from));
  const right = useQuery(versionManifest(to));
  const what = t('await.yaml');
  const error = left.error ?? right.error;
  if (error) {
    const retry = () => void Promise.all([left.refetch(), right.refetch()]);
    return <Failure title={t('failure.title', { what })} error={error} onRetry={retry} />;
  }
  if (left.data === undefined || right.data === undefined) return <Awaiting what={what} />;
  return (
    <Suspense fallback={<Awaiting what={what} />}>
      <div className="panel">
        <YAMLDiff from={left.data} to={right.data} />
      </div>
    </Suspense>
  );
}
