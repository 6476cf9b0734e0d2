import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { DiffPage } from './DiffPage';

vi.mock('@tanstack/react-router', async (original) => {
  const actual = await original<typeof import('@tanstack/react-router')>();
  return {
    ...actual,
    getRouteApi: () => ({
      useSearch: () => actual.useSearch({ strict: false }),
      useNavigate: () => actual.useNavigate({ from: '/diff' as never }),
    }),
  };
});

function show(path: string, changes: object[]) {
  const asked = vi.fn();
  const version = (id: string) => ({
    id,
    name: `version ${id}`,
    resource_references: [{ key: { type: 'PIPELINE', id: 'p' }, relationship: 'OWNER' }],
  });
  server.use(
    http.get('*/apis/argosy/v1/pipeline_versions\\:diff', ({ request }) => {
      asked(Object.fromEntries(new URL(request.url).searchParams));
      return HttpResponse.json({ changes });
    }),
    http.get('*/apis/v1beta1/pipeline_versions/:id/templates', ({ params }) =>
      HttpResponse.json({ template: `kind: Workflow\nspec:\n  entrypoint: ${params.id}\n` }),
    ),
    http.get('*/apis/argosy/v1/pipeline_versions/:id/graph', ({ params }) =>
      HttpResponse.json({
        nodes: ['train', `only-${params.id}`].map((name) => ({ id: name, name, type: 'Container' })),
      }),
    ),
    http.get('*/apis/v1beta1/pipeline_versions/:id', ({ params }) => HttpResponse.json(version(String(params.id)))),
    http.get('*/apis/v1beta1/pipeline_versions', () => HttpResponse.json({ versions: [version('a'), version('b')] })),
    http.get('*/apis/v1beta1/pipelines/p', () => HttpResponse.json({ id: 'p', name: 'mpi' })),
    http.get('*/apis/v1beta1/pipelines', () => HttpResponse.json({ pipelines: [{ id: 'p', name: 'mpi' }] })),
  );
  const router = renderAt(path, '/diff', () => <DiffPage />);
  return { asked, router };
}

it('lists what two versions do differently', async () => {
  const { asked } = show('/diff?from=a&to=b', [
    { step: 'train', path: 'container.args[1]', from: '"--epochs=1\\n--x"', to: '"--epochs=2"' },
    { path: 'parameters.gpus', to: '1' },
  ]);
  const row = await screen.findByRole('row', { name: /train/ });
  expect(asked).toHaveBeenCalledExactlyOnceWith({ from: 'a', to: 'b' });
  expect(within(row).getByText(/--epochs=1/).textContent).toBe('--epochs=1\n--x');
  const whole = screen.getByRole('row', { name: /Whole pipeline/ });
  expect(within(whole).getByText('none: added')).toBeTruthy();
});

it('says so where they do the same, and what to do where none are chosen', async () => {
  show('/diff?from=a&to=b', []);
  expect(await screen.findByRole('heading', { name: 'They do the same' })).toBeTruthy();
});

it('draws the steps of both in one graph, and lists the differences of the chosen one', async () => {
  const { router } = show('/diff?from=a&to=b&diff=graph', [
    { step: 'train', path: 'container.image', from: '"x"', to: '"y"' },
    { step: 'only-a', path: '', from: '{}' },
    { step: 'only-b', path: '', to: '{}' },
  ]);
  const step = await screen.findByRole('button', { name: /train.*changed/ }, { timeout: 5000 });
  expect(screen.getByRole('button', { name: /only-a.*removed/ })).toBeTruthy();
  expect(screen.getByRole('button', { name: /only-b.*added/ })).toBeTruthy();
  expect(screen.queryByRole('row')).toBeNull();
  step.focus();
  await userEvent.keyboard('{Enter}');
  expect(await screen.findByRole('row', { name: /container\.image/ })).toBeTruthy();
  expect(screen.queryByRole('row', { name: /only-a/ })).toBeNull();
  expect(router.state.location.search).toMatchObject({ from: 'a', to: 'b', diff: 'graph', step: 'train' });
});

it('lists below the graph what is of no step, and asks for a marked step only where one is', async () => {
  show('/diff?from=a&to=b&diff=graph', [{ path: 'parameters.gpus', from: '1', to: '2' }]);
  expect(await screen.findByRole('row', { name: /Whole pipeline.*parameters\.gpus/ })).toBeTruthy();
  expect(screen.queryByText(/Choose a step that is marked/)).toBeNull();
});

it('shows the lines of the YAML that went and came', async () => {
  show('/diff?from=a&to=b&diff=yaml', []);
  expect(await screen.findByText('The YAML differs in 1 place.', {}, { timeout: 5000 })).toBeTruthy();
  const text = screen.getByRole('textbox', { name: 'Differences of the YAML' });
  expect(text.querySelector('.cm-deletedLine')?.textContent).toBe('  entrypoint: a');
  expect(text.querySelector('.cm-changedLine')?.textContent).toBe('  entrypoint: b');
});
