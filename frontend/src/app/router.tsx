import { IconMapOff } from '@tabler/icons-react';
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  redirect,
  useLocation,
} from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { readListSearch } from '../api/list';
import type { RunsSearch } from '../api/runs';
import { many, parseSearch, stringifySearch } from '../api/url';
import { ExperimentPage } from '../experiments/ExperimentPage';
import { ExperimentsPage } from '../experiments/ExperimentsPage';
import { Empty } from '../feedback/Empty';
import { Failure } from '../feedback/Failure';
import { NewRunPage } from '../newrun/NewRunPage';
import { readNewRunSearch } from '../newrun/newRunSearch';
import { PipelinePage } from '../pipelines/PipelinePage';
import { PipelinesPage } from '../pipelines/PipelinesPage';
import { readPipelineSearch } from '../pipelines/pipelineSearch';
import { RunPage } from '../runs/RunPage';
import { RunsPage } from '../runs/RunsPage';
import { readRunSearch } from '../runs/runSearch';
import { kfpTarget } from './kfpLinks';
import { ButtonLink } from './links';
import { Page } from './Page';
import { Shell } from './Shell';

const readRunsSearch = (raw: Record<string, unknown>): RunsSearch => ({
  ...readListSearch(raw),
  status: many(raw.status),
  metrics: many(raw.metrics),
});

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const routes = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    beforeLoad: ({ location }) => {
      throw redirect({ to: kfpTarget(location.hash) ?? '/pipelines', replace: true });
    },
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/pipelines',
    validateSearch: readListSearch,
    component: PipelinesPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/pipelines/$pipelineId',
    validateSearch: readPipelineSearch,
    component: PipelinePage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/experiments',
    validateSearch: readListSearch,
    component: ExperimentsPage,
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/experiments/$experimentId',
    validateSearch: readRunsSearch,
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
] as const;

/** All pages. What is heavy in them (graph, logs, chart, YAML) is loaded when it is first shown. */
export const router = createRouter({
  routeTree: root.addChildren(routes),
  parseSearch,
  stringifySearch,
  defaultErrorComponent: Crash,
  // Line links (#L120) are the log's own business.
  defaultHashScrollIntoView: false,
  scrollRestoration: true,
});

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
        <ButtonLink to="/runs">{t('runs.title')}</ButtonLink>
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
