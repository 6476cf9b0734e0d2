import { IconMapOff } from '@tabler/icons-react';
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  type RouterHistory,
  redirect,
  useLocation,
} from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { ExperimentsSearch } from '../api/experiments';
import { readListSearch } from '../api/list';
import type { ExperimentSearch, RunsSearch } from '../api/runs';
import { many, parseSearch, stringifySearch } from '../api/url';
import { readCompareSearch } from '../compare/compareSearch';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { withTexts } from '../i18n';
import { readNewRunSearch } from '../newrun/newRunSearch';
import { type DiffSearch, readDiffView } from '../pipelines/diffSearch';
import { type PipelineSearch, readPipelineSearch } from '../pipelines/pipelineSearch';
import { RunsPage } from '../runs/RunsPage';
import { readRunSearch } from '../runs/runSearch';
import { readPins } from '../runs/views';
import { readScalingSearch } from '../scaling/scalingSearch';
import { ButtonLink } from './links';
import { Page } from './Page';
import { Shell } from './Shell';

const text = (raw: unknown) => (typeof raw === 'string' && raw ? raw : undefined);
const yes = (raw: unknown) => (raw === 'true' || raw === true ? true : undefined);

const readRunsSearch = (raw: Record<string, unknown>): RunsSearch => ({
  ...readListSearch(raw),
  status: many(raw.status),
  metrics: many(raw.metrics),
  params: many(raw.params),
  archived: yes(raw.archived),
  chosen: many(raw.chosen),
  ...readPins(raw),
});

const readExperimentSearch = (raw: Record<string, unknown>): ExperimentSearch => ({
  ...readRunsSearch(raw),
  metric: text(raw.metric),
});

const readExperimentsSearch = (raw: Record<string, unknown>): ExperimentsSearch => ({
  ...readListSearch(raw),
  archived: yes(raw.archived),
  deleted: yes(raw.deleted),
});

/** Leads a link of KFP's interface to the same thing here. */
async function followKFP({ location }: { location: { hash: string } }) {
  if (!location.hash) return;
  const { kfpTarget } = await import('./kfpLinks');
  const target = kfpTarget(location.hash);
  if (target) throw redirect({ ...target, hash: '', replace: true } as never);
}

const readDiffSearch = (raw: Record<string, unknown>): DiffSearch => ({
  ...readDiffView(raw),
  from: text(raw.from),
  to: text(raw.to),
});

const readClusterSearch = (raw: Record<string, unknown>): { q?: string } => ({ q: text(raw.q) });

const readRulesSearch = (raw: Record<string, unknown>): { rule?: string[] } => ({ rule: many(raw.rule) });

// The list of runs is what most readers open first. The other pages are loaded when they are opened.
const page: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(withTexts(load), name);

const ClusterPage = page(() => import('../cluster/ClusterPage'), 'ClusterPage');
const ComponentsPage = page(() => import('../components/ComponentsPage'), 'ComponentsPage');
const ComparePage = page(() => import('../compare/ComparePage'), 'ComparePage');
const ExperimentPage = page(() => import('../experiments/ExperimentPage'), 'ExperimentPage');
const ExperimentsPage = page(() => import('../experiments/ExperimentsPage'), 'ExperimentsPage');
const HomePage = page(() => import('../home/HomePage'), 'HomePage');
const NewRunPage = page(() => import('../newrun/NewRunPage'), 'NewRunPage');
const DiffPage = page(() => import('../pipelines/DiffPage'), 'DiffPage');
const PipelinePage = page(() => import('../pipelines/PipelinePage'), 'PipelinePage');
const PipelinesPage = page(() => import('../pipelines/PipelinesPage'), 'PipelinesPage');
const RulesPage = page(() => import('../rules/RulesPage'), 'RulesPage');
const RunPage = page(() => import('../runs/RunPage'), 'RunPage');
const ScalingPage = page(() => import('../scaling/ScalingPage'), 'ScalingPage');
const SchedulePage = page(() => import('../schedules/SchedulePage'), 'SchedulePage');
const SchedulesPage = page(() => import('../schedules/SchedulesPage'), 'SchedulesPage');
const SettingsPage = page(() => import('../settings/SettingsPage'), 'SettingsPage');

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const routes = [
  createRoute({ getParentRoute: () => root, path: '/', beforeLoad: followKFP, component: HomePage }),
  // Where KFP's own interface lies behind its gateway, and within Kubeflow's dashboard.
  createRoute({ getParentRoute: () => root, path: '/pipeline', beforeLoad: followKFP, component: HomePage }),
  createRoute({ getParentRoute: () => root, path: '/_/pipeline', beforeLoad: followKFP, component: HomePage }),
  createRoute({
    getParentRoute: () => root,
    path: '/pipelines',
    validateSearch: readListSearch,
    component: PipelinesPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/pipelines/$pipelineId',
    validateSearch: (raw: Record<string, unknown>): PipelineSearch => ({
      ...readRunsSearch(raw),
      ...readPipelineSearch(raw),
    }),
    component: PipelinePage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/experiments',
    validateSearch: readExperimentsSearch,
    component: ExperimentsPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/experiments/$experimentId',
    validateSearch: readExperimentSearch,
    component: ExperimentPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs',
    validateSearch: readRunsSearch,
    component: RunsPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/new',
    validateSearch: readNewRunSearch,
    component: NewRunPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/$runId',
    validateSearch: readRunSearch,
    component: RunPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/schedules',
    validateSearch: readListSearch,
    component: SchedulesPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/schedules/$scheduleId',
    validateSearch: readRunsSearch,
    component: SchedulePage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/compare',
    validateSearch: readCompareSearch,
    component: ComparePage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/scaling',
    validateSearch: readScalingSearch,
    component: ScalingPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/metrics/test',
    validateSearch: readRulesSearch,
    component: RulesPage,
  }),
  createRoute({ getParentRoute: () => root, path: '/diff', validateSearch: readDiffSearch, component: DiffPage }),
  createRoute({
    getParentRoute: () => root,
    path: '/cluster',
    validateSearch: readClusterSearch,
    component: ClusterPage,
  }),
  createRoute({ getParentRoute: () => root, path: '/settings', component: SettingsPage }),
  createRoute({ getParentRoute: () => root, path: '/components', component: ComponentsPage }),
] as const;

const routeTree = root.addChildren(routes);

/** All pages. What is heavy in them (graph, logs, chart, YAML) is loaded when it is first shown. */
export const newRouter = (history?: RouterHistory) =>
  createRouter({
    routeTree,
    history,
    parseSearch,
    stringifySearch,
    defaultErrorComponent: Crash,
    // A page is loaded when the pointer or the focus comes to a link to it.
    defaultPreload: 'intent',
    // Line links (#L120) are the log's own business.
    defaultHashScrollIntoView: false,
    scrollRestoration: true,
  });

export const router = newRouter();

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function NotFound() {
  const { t } = useTranslation();
  const path = useLocation({ select: (location) => location.pathname });
  return (
    <Page title={t('app.notFoundTitle')}>
      <Empty icon={<IconMapOff aria-hidden />} title={t('app.notFoundTitle')} text={t('app.notFoundText', { path })}>
        <ButtonLink to="/runs">{t('pages.runs')}</ButtonLink>
      </Empty>
    </Page>
  );
}

function Crash({ error }: ErrorComponentProps) {
  const { t } = useTranslation();
  return (
    <Page title={t('app.crashTitle')}>
      <p>{t('app.crashText')}</p>
      <Failure title={t('app.crashTitle')} error={error} onRetry={() => location.reload()} />
    </Page>
  );
}
