import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { beforeEach, expect, it, vi } from 'vitest';
import { renderApp } from '../test/render';
import { server } from '../test/server';

// The router loads pages when they are opened; here they are there before the tests begin, which have a time limit.
import './PipelinePage';
import './DiffPage';

const at = (day: number) => `2026-11-0${day}T10:00:00Z`;
const version = (id: string, day: number) => ({
  id,
  name: `version ${id}`,
  created_at: at(day),
  parameters: [] as object[],
});

let versions = [version('c', 3), version('b', 2), version('a', 1)];
let defaultVersion = 'c';
const asked = vi.fn();

beforeEach(() => {
  versions = [version('c', 3), version('b', 2), version('a', 1)];
  defaultVersion = 'c';
  asked.mockClear();
  server.use(
    http.get('*/apis/v1beta1/pipelines/p', () =>
      HttpResponse.json({
        id: 'p',
        name: 'mpi',
        created_at: at(1),
        default_version: versions.find(({ id }) => id === defaultVersion),
      }),
    ),
    http.get('*/apis/v1beta1/pipeline_versions', () => HttpResponse.json({ versions, total_size: versions.length })),
    http.post('*/apis/v1beta1/pipelines/p/default_version/:id', ({ params }) => {
      defaultVersion = String(params.id);
      return HttpResponse.json({});
    }),
    http.delete('*/apis/v1beta1/pipeline_versions/:id', ({ params }) => {
      asked(params.id);
      versions = versions.filter(({ id }) => id !== params.id);
      return HttpResponse.json({});
    }),
    http.get('*', () => HttpResponse.json({})),
  );
});

const row = (name: string) => screen.findByRole('row', { name: new RegExp(name) });

async function choose(name: string, action: string) {
  await userEvent.click(await screen.findByRole('button', { name: `Actions: ${name}` }));
  await userEvent.click(await screen.findByRole('menuitem', { name: action }));
}

it('compares any two versions, which the address keeps', async () => {
  const { router } = renderApp('/pipelines/p?tab=versions&compare=b');
  await row('version b');
  expect((screen.getByRole('checkbox', { name: 'Choose version b' }) as HTMLInputElement).checked).toBe(true);
  expect(screen.getByText(/Choose two versions to compare them; 1 chosen/)).toBeTruthy();
  await userEvent.click(screen.getByRole('checkbox', { name: 'Choose version a' }));
  await waitFor(() => expect(router.state.location.search).toEqual({ tab: 'versions', compare: ['b', 'a'] }));
  await userEvent.click(await screen.findByRole('link', { name: 'Compare the two' }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/diff'));
  expect(router.state.location.search).toEqual({ from: 'a', to: 'b' });
});

it('makes a version the default', async () => {
  renderApp('/pipelines/p?tab=versions');
  await choose('version a', 'Make default');
  await waitFor(async () => expect(within(await row('version a')).getByText('default')).toBeTruthy());
  expect(within(await row('version c')).queryByText('default')).toBeNull();
});

it('deletes a version, having asked, and shows the default again where it was open', async () => {
  const { router } = renderApp('/pipelines/p?tab=versions&version=b');
  await choose('version b', 'Delete');
  const dialog = await screen.findByRole('dialog');
  expect(dialog.textContent).toContain('“version b” will be removed');
  expect(dialog.textContent).not.toContain('default');
  expect(asked).not.toHaveBeenCalled();
  await userEvent.click(within(dialog).getByRole('button', { name: 'Delete' }));
  await waitFor(() => expect(screen.queryByRole('row', { name: /version b/ })).toBeNull());
  expect(asked).toHaveBeenCalledExactlyOnceWith('b');
  expect(router.state.location.search).toEqual({ tab: 'versions' });
});

it('says what becomes the default when the default is deleted', async () => {
  renderApp('/pipelines/p?tab=versions');
  await choose('version c', 'Delete');
  expect((await screen.findByRole('dialog')).textContent).toContain('“version b”, the newest of the others, becomes');
});

it('says that nothing is left when the only version is deleted', async () => {
  versions = [version('c', 3)];
  renderApp('/pipelines/p?tab=versions');
  await choose('version c', 'Delete');
  expect((await screen.findByRole('dialog')).textContent).toContain('It is the only version');
});

it('lists the runs of the pipeline as the page Runs does, with its search in the address', async () => {
  const streams = vi.fn();
  vi.stubGlobal(
    'EventSource',
    class extends EventTarget {
      constructor(url: string) {
        super();
        streams(new URLSearchParams(url.split('?')[1]).get('filter'));
      }
      close() {}
    },
  );
  const queries: Record<string, string>[] = [];
  server.use(
    http.get('*/apis/argosy/v1/runs', ({ request }) => {
      queries.push(Object.fromEntries(new URL(request.url).searchParams));
      const run = {
        id: 'r',
        name: 'nightly',
        status: 'Succeeded',
        pipeline: { id: 'p', name: 'mpi', version_id: 'b', version_name: 'version b' },
      };
      return HttpResponse.json({ runs: [run], total_size: 1 });
    }),
  );
  const { router } = renderApp('/pipelines/p?tab=runs&status=Succeeded');
  const found = await row('nightly');
  expect(within(found).getByRole('link', { name: 'version b' }).getAttribute('href')).toBe('/pipelines/p?version=b');
  const ofPipeline = encodeURIComponent(
    JSON.stringify({ predicates: [{ op: 'EQUALS', key: 'pipeline_id', string_value: 'p' }] }),
  );
  expect(queries[0]).toMatchObject({ filter: ofPipeline, status: 'Succeeded' });
  expect(streams).toHaveBeenCalledExactlyOnceWith(ofPipeline);
  await userEvent.type(screen.getByRole('combobox', { name: /Search/ }), 'night');
  await waitFor(() => expect(router.state.location.search).toEqual({ tab: 'runs', status: 'Succeeded', q: 'night' }));
  await waitFor(() => expect(queries.at(-1)).toMatchObject({ filter: ofPipeline, text: 'night' }));
  vi.unstubAllGlobals();
});

it('searches runs for nothing that was looked for in the graph', async () => {
  const { router } = renderApp('/pipelines/p?q=%2Btrain');
  await userEvent.click(await screen.findByRole('tab', { name: 'Runs' }));
  await waitFor(() => expect(router.state.location.search).toEqual({ tab: 'runs' }));
});

it('says how to make the first run of a pipeline', async () => {
  renderApp('/pipelines/p?tab=runs');
  const empty = (await screen.findByText('No runs of this pipeline yet')).parentElement as HTMLElement;
  expect(within(empty).getByRole('link', { name: 'Create run' }).getAttribute('href')).toBe('/runs/new?pipeline=p');
});

it('says of parameters what they are for and what values they take', async () => {
  const parameters = ['workers', 'rate', 'optimizer', 'plain'].map((name) => ({
    name,
    value: name === 'plain' ? '' : '1',
  }));
  versions = [{ ...version('c', 3), parameters }];
  const inputs = [
    { name: 'workers', type: 'Integer', minimum: 1, maximum: 64 },
    { name: 'rate', type: 'Float', minimum: 0.5 },
  ];
  const template = `
metadata:
  annotations:
    argosy.dev/sdk_version: 0.1.0
    pipelines.kubeflow.org/pipeline_spec: '${JSON.stringify({ inputs })}'
spec:
  arguments:
    parameters:
    - {name: workers, description: How many pods work}
    - {name: rate}
    - {name: optimizer, enum: [sgd, adam]}
    - {name: plain}
`;
  server.use(http.get('*/templates', () => HttpResponse.json({ template })));
  renderApp('/pipelines/p?tab=parameters');
  const cells = async (name: string) => (await row(name)).textContent;
  expect(await cells('How many pods work')).toBe('workersHow many pods work1whole number1 to 64');
  expect(await cells('^rate')).toBe('rate1numberat least 0.5');
  const choices = within(await row('optimizer')).getAllByRole('listitem');
  expect(choices.map(({ textContent }) => textContent)).toEqual(['sgd', 'adam']);
  expect(await cells('^plain')).toBe('plain———');
});
