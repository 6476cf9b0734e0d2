import { readFileSync } from 'node:fs';
import { cleanup, screen, waitFor } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { beforeEach, expect, it, vi } from 'vitest';
import { renderApp } from '../test/render';
import { server } from '../test/server';

// Pages and tabs are loaded when they are opened; here they are there before the tests begin, which have a time limit.
import.meta.glob('../*/*{Page,Tab}.tsx', { eager: true });

/** Streams are counted as requests, and say nothing. */
class Source extends EventTarget {
  static readonly CLOSED = 2;
  readyState = 1;
  constructor(url: string) {
    super();
    asked.push(`GET ${url.split('?')[0]}`);
  }
  close() {
    this.readyState = Source.CLOSED;
  }
}

/** A screen that has room for two of the things that are read when they come in view: charts, and what steps left to look at. */
class Screen extends IntersectionObserver {
  static free = 0;
  override observe(target: Element) {
    if (Screen.free-- > 0) super.observe(target);
  }
}

// There is no canvas.
vi.mock('uplot', () => ({
  default: class {
    ctx = { canvas: null };
    setData() {}
    setSize() {}
    destroy() {}
  },
}));

let asked: string[] = [];

beforeEach(() => {
  vi.stubGlobal('EventSource', Source);
  vi.stubGlobal('IntersectionObserver', Screen);
  return () => vi.unstubAllGlobals();
});

const at = '2026-11-20T10:00:00Z';
const many = <T,>(count: number, one: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => one(i));
const metrics = [{ name: 'loss', node_id: 'n0', value: 1, format: 'RAW' }];
const pod = (i: number) => ({
  id: `n${i}`,
  name: `wf.step-${i}`,
  display_name: `step-${i}`,
  type: 'Pod',
  phase: 'Succeeded',
});
const aRun = (i: number, rows = 1) => ({
  id: `r${i}`,
  name: `row-${i}`,
  status: 'Succeeded',
  created_at: at,
  started_at: at,
  finished_at: at,
  experiment: { id: 'e0', name: 'Default' },
  pipeline: { id: 'p0', name: 'hello', version_id: 'v0' },
  parameters: [{ name: 'workers', value: '2' }],
  metrics,
  nodes: many(rows, pod),
});
const resources = [{ resource: 'cpu', capacity: 4, allocatable: 4, requested: 1, free: 3 }];
/** The log, the curve, the worker, the event and the artifact's picture of one step. */
const log = (i: number) => ({ node_id: `n${i}`, attempt: 1, container: 'main', started_at: at, last_at: at });
const series = (i: number) => ({
  node_id: 'n0',
  name: `loss-${i >> 1}`,
  rank: i % 2,
  format: 'RAW',
  total: '2',
  points: [
    { step: '1', value: 2 },
    { step: '2', value: 1 },
  ],
});
const visual = (i: number) => ({
  node_id: `n${i}`,
  step_name: `row-${i}`,
  kind: 'markdown',
  storage: 'inline',
  source: 'x',
});
const event = (i: number) => ({
  kind: 'Pod',
  name: `row-${i}`,
  node_id: `n${i}`,
  reason: 'Started',
  first_at: at,
  last_at: at,
});
const trainJob = (workers: number) => ({
  node_id: 'n0',
  step_name: 'train',
  kind: 'MPIJob',
  name: 'train',
  state: 'Running',
  workers: many(workers, (i) => ({ pod: `row-${i}`, role: 'worker', index: i, state: 'Running', rank: i })),
});
const parameters = [{ name: 'workers', value: '2' }];
const version = (i: number) => ({ id: `v${i}`, name: `row-${i}`, created_at: at, parameters });
const pipeline = (i: number) => ({
  id: `p${i}`,
  name: `row-${i}`,
  created_at: at,
  parameters,
  default_version: version(0),
});
const experiment = (i: number) => ({ id: `e${i}`, name: `row-${i}`, created_at: at });
const job = (i: number) => ({
  id: `j${i}`,
  name: `row-${i}`,
  enabled: true,
  created_at: at,
  trigger: { periodic_schedule: { interval_second: '60' } },
});

/** A server whose lists have so many rows, and whose runs so many steps. */
function serve(rows: number) {
  const answers: [RegExp, object][] = [
    [/\/argosy\/v1\/runs:fields$/, { statuses: ['Failed'], parameters: ['workers'], metrics: ['loss'] }],
    [/\/argosy\/v1\/runs:group$/, { groups: many(rows, (i) => ({ value: `row-${i}`, runs: 1 })), total_size: rows }],
    [/\/argosy\/v1\/runs:visuals$/, { runs: many(rows, (i) => ({ run_id: `r${i}` })) }],
    [/\/argosy\/v1\/runs:compare$/, { runs: many(rows, (i) => aRun(i)), parameters: [], metrics: [] }],
    [
      /\/argosy\/v1\/scaling$/,
      {
        metric: 'loss',
        result: {
          metric: 'loss',
          verdicts: ['said'],
          runs: many(rows, (i) => ({ id: `r${i}`, name: `row-${i}`, value: 1 })),
        },
      },
    ],
    [/\/argosy\/v1\/runs$/, { runs: many(rows, (i) => aRun(i)), total_size: rows, checked: true }],
    [/\/argosy\/v1\/runs\/r0$/, aRun(0, rows)],
    [/\/runs\/r0\/logs$/, { logs: many(rows, log) }],
    [/\/runs\/r0\/metrics$/, { series: many(2 * rows, series) }],
    [/\/runs\/r0\/metrics\/.*\/series$/, { series: many(rows, series) }],
    [/\/runs\/r0\/visuals$/, { visuals: many(rows, visual) }],
    [/\/runs\/r0\/jobs$/, { jobs: [trainJob(rows)] }],
    [/\/runs\/r0\/cluster-events$/, { events: many(rows, event) }],
    [/\/v1beta1\/runs\/r0$/, { pipeline_runtime: { workflow_manifest: '{"row-1": 1}' } }],
    [
      /\/argosy\/v1\/cluster$/,
      {
        nodes: many(rows, (i) => ({ name: `row-${i}`, ready: true, schedulable: true, resources })),
        queues: many(rows, (i) => ({ name: `queue-${i}`, running: 1 })),
      },
    ],
    [
      /\/pipeline_versions:diff$/,
      { changes: many(rows, (i) => ({ step: `row-${i}`, path: 'x', from: '1', to: '2' })) },
    ],
    [/\/v1beta1\/pipelines$/, { pipelines: many(rows, pipeline), total_size: rows }],
    [/\/v1beta1\/pipelines\/p0$/, pipeline(0)],
    [/\/v1beta1\/pipeline_versions$/, { versions: many(rows, version), total_size: rows }],
    [/\/v1beta1\/pipeline_versions\/v0$/, version(0)],
    [/\/v1beta1\/experiments$/, { experiments: many(rows, experiment), total_size: rows }],
    [/\/v1beta1\/experiments\/e0$/, experiment(0)],
    [/\/v1beta1\/jobs$/, { jobs: many(rows, job), total_size: rows }],
    [/\/v1beta1\/jobs\/j0$/, job(0)],
    [/templates$/, { template: 'spec: {}' }],
  ];
  server.use(
    http.all('*', ({ request }) => {
      const { pathname, searchParams } = new URL(request.url);
      asked.push(`${request.method} ${pathname}`);
      if (decodeURIComponent(searchParams.get('filter') ?? '').includes('Waiting')) {
        return HttpResponse.json({ runs: many(rows, (i) => ({ ...aRun(i), status: 'Pending' })), total_size: rows });
      }
      return HttpResponse.json(answers.find(([path]) => path.test(pathname))?.[1] ?? {});
    }),
  );
}

/** Opens a page and counts its requests, until it shows its rows, has asked so often, and asks for nothing more. */
async function requests(path: string, rows: number, shows: RegExp, least: number): Promise<string[]> {
  asked = [];
  Screen.free = 2;
  serve(rows);
  const { client } = renderApp(path, Number.POSITIVE_INFINITY);
  await screen.findAllByText(shows);
  // Between an answer and the request that follows from it nothing is asked either: only the count tells that it is over.
  await waitFor(() => {
    expect(asked.length, asked.join(', ')).toBeGreaterThanOrEqual(least);
    expect(client.isFetching()).toBe(0);
  });
  const all = asked;
  cleanup();
  server.resetHandlers();
  return all;
}

// The same table is in README.md.
const pages: [name: string, path: string, shows: RegExp][] = [
  ['Home', '/', /row-1/],
  ['Pipelines', '/pipelines', /row-1/],
  ['Pipeline', '/pipelines/p0', /row-0/],
  ['Pipeline, runs', '/pipelines/p0?tab=runs', /row-1/],
  ['Experiments', '/experiments', /row-1/],
  ['Experiment', '/experiments/e0', /row-1/],
  ['Runs', '/runs', /row-1/],
  ['Runs, searched', '/runs?q=workers%3E%3D1', /row-1/],
  ['Runs, with pins', '/runs?pins=r0&pins=r1', /row-1/],
  ['Runs, grouped', '/runs?by=workers', /row-1/],
  ['New run', '/runs/new?pipeline=p0', /can hold every step/],
  ['Run', '/runs/r0', /step-1/],
  ['Run, steps', '/runs/r0?tab=steps', /step-1/],
  ['Run, timeline', '/runs/r0?tab=timeline', /step-1/],
  ['Run, logs', '/runs/r0?tab=logs', /End of the log/],
  ['Run, metrics', '/runs/r0?tab=metrics', /^rank 1$|mean of 40 ranks/],
  ['Run, outputs', '/runs/r0?tab=outputs', /row-1|step-1/],
  ['Run, job', '/runs/r0?tab=job', /row-1/],
  ['Run, events', '/runs/r0?tab=events', /row-1/],
  ['Run, parameters', '/runs/r0?tab=parameters', /workers/],
  ['Run, YAML', '/runs/r0?tab=yaml', /row-1/],
  ['Schedules', '/schedules', /row-1/],
  ['Schedule', '/schedules/j0', /row-1/],
  ['Compare', '/compare?runs=r0&runs=r1', /row-1/],
  ['Scaling', '/scaling?experiment=e0', /row-1/],
  ['Diff', '/diff?from=v0&to=v1', /row-1/],
  ['Nodes and queues', '/cluster', /row-1/],
  ['Settings', '/settings', /Time zone/],
  ['Components', '/components', /Sizes and colours/],
  ['Rule tester', '/metrics/test', /Paste what a job prints/],
];

/** How many requests README.md says that a page makes. */
const written = (name: string) =>
  Number(new RegExp(`^\\| ${name} \\| (\\d+) \\|$`, 'm').exec(readFileSync('README.md', 'utf8'))?.[1]);

it.each(pages)('%s asks no more for 40 rows than for 2', async (name, path, shows) => {
  const few = await requests(path, 2, shows, written(name));
  const lot = await requests(path, 40, shows, written(name));
  expect(lot.sort(), name).toEqual(few.sort());
  expect(few.length, `README.md: ${few.join(', ')}`).toBe(written(name));
});
