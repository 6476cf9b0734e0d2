import { render } from '@testing-library/react';
import { HttpResponse, http } from 'msw';
import { beforeEach, expect, it, vi } from 'vitest';
import { LogLine } from '../logs/LogLine';
import { renderApp } from '../test/render';
import { server } from '../test/server';

// The router loads pages when they are opened; here they are there before the tests begin, which have a time limit.
import.meta.glob('../*/*{Page,Tab}.tsx', { eager: true });

const markup = (what: string) => `<img src=x onerror="stolen='${what}'"><script>stolen</script><b>${what}</b>`;
const at = '2026-11-20T10:00:00Z';
const parameters = [{ name: markup('key'), value: markup('value') }];
const run = {
  id: 'r0',
  name: markup('run'),
  description: markup('note'),
  status: 'Failed',
  error: markup('error'),
  created_at: at,
  started_at: at,
  finished_at: at,
  experiment: { id: 'e0', name: markup('experiment') },
  pipeline: { id: 'p0', name: markup('pipeline'), version_id: 'v0', version_name: markup('version') },
  parameters,
  labels: { [markup('label')]: markup('labelled') },
  metrics: [{ name: markup('metric'), node_id: 'n0', value: 1 }],
  nodes: [
    {
      id: 'n0',
      name: 'n0',
      display_name: markup('step'),
      type: 'Pod',
      phase: 'Failed',
      message: markup('why'),
      inputs: parameters,
    },
  ],
};
const version = { id: 'v0', name: markup('version'), created_at: at, parameters };
const pipeline = {
  id: 'p0',
  name: markup('pipeline'),
  description: markup('note'),
  created_at: at,
  parameters,
  default_version: version,
};
const experiment = { id: 'e0', name: markup('experiment'), description: markup('note'), created_at: at };
const event = {
  kind: 'Pod',
  name: markup('pod'),
  node_id: 'n0',
  reason: markup('reason'),
  message: markup('told'),
  first_at: at,
  last_at: at,
};

const answers: [RegExp, object][] = [
  [/runs:fields$/, { parameters: [markup('key')], metrics: [markup('metric')] }],
  [
    /runs:compare$/,
    {
      runs: [run, { ...run, id: 'r1' }],
      parameters: [{ name: markup('key'), values: [{ value: markup('value') }, { value: 'b' }] }],
    },
  ],
  [/\/argosy\/v1\/runs$/, { runs: [run], total_size: 1 }],
  [/\/argosy\/v1\/runs\/r0$/, run],
  [/\/v1beta1\/runs\/r0$/, { pipeline_runtime: { workflow_manifest: JSON.stringify({ yaml: markup('yaml') }) } }],
  [/cluster-events$/, { events: [event] }],
  [/\/pipelines$/, { pipelines: [pipeline], total_size: 1 }],
  [/\/pipelines\/p0$/, pipeline],
  [/\/pipeline_versions$/, { versions: [version], total_size: 1 }],
  [/\/pipeline_versions\/v0$/, version],
  [/\/experiments$/, { experiments: [experiment], total_size: 1 }],
  [/\/experiments\/e0$/, experiment],
  [/\/graph$/, { nodes: [{ id: 'g', name: markup('step') }] }],
  [/templates$/, { template: `# ${markup('yaml')}\nspec: {}` }],
];

beforeEach(() => {
  vi.stubGlobal(
    'EventSource',
    class extends EventTarget {
      close() {}
    },
  );
  server.use(
    http.all('*', ({ request }) => {
      const { pathname } = new URL(request.url);
      return HttpResponse.json(answers.find(([path]) => path.test(pathname))?.[1] ?? {});
    }),
  );
  return () => vi.unstubAllGlobals();
});

/** Nothing was made out of the markup: it would have run. */
const nothingMade = () => expect(document.body.querySelectorAll('img[src=x], script, [onerror]')).toHaveLength(0);

it.each([
  ['/', 'run'],
  ['/runs', 'run'],
  [`/runs?params=${encodeURIComponent(markup('key'))}&labels=true`, 'value'],
  ['/runs/r0', 'run'],
  ['/runs/r0?tab=timeline', 'step'],
  ['/runs/r0?tab=steps', 'step'],
  ['/runs/r0?tab=metrics', 'metric'],
  ['/runs/r0?tab=events', 'told'],
  ['/runs/r0?tab=parameters', 'value'],
  ['/runs/r0?tab=yaml', 'yaml'],
  ['/runs/new?clone=r0', 'pipeline'],
  ['/compare?runs=r0&runs=r1', 'run'],
  ['/pipelines', 'pipeline'],
  ['/pipelines/p0', 'pipeline'],
  ['/pipelines/p0?tab=parameters', 'key'],
  ['/pipelines/p0?tab=yaml', 'yaml'],
  ['/experiments', 'experiment'],
  ['/experiments/e0', 'experiment'],
])('%s shows the markup of a hostile %s as text', async (path, what) => {
  renderApp(path, Number.POSITIVE_INFINITY);
  const shown = (text: string) => text.includes(`<b>${what}</b>`);
  await vi.waitFor(
    () => {
      const fields = [...document.querySelectorAll('input, textarea')].map(
        (field) => (field as HTMLInputElement).value,
      );
      expect([document.body.textContent ?? '', ...fields].some(shown)).toBe(true);
    },
    { timeout: 30_000 },
  );
  nothingMade();
});

it.each([
  ['plain', (line: string) => line, ''],
  ['coloured', (line: string) => `\u001b[31m${line}\u001b[0m`, ''],
  ['searched', (line: string) => line, 'onerror'],
])('shows a hostile log line that is %s as text', (_, write, words) => {
  const line = markup('line');
  const log = { number: 1, current: false, linked: false, onLink: () => undefined };
  render(<LogLine text={write(line)} words={words} {...log} />);
  expect(document.body.textContent).toContain(line);
  expect(document.body.querySelectorAll('a[href^="javascript"], b')).toHaveLength(0);
  nothingMade();
});
