import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { beforeEach, expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { NewRunForm } from './NewRunForm';

const pipeline = {
  id: 'p1',
  name: 'mpi_run',
  default_version: { id: 'v1', name: 'mpi_run' },
  parameters: [{ name: 'workers', value: '1' }, { name: 'data', value: 'claim:/data' }, { name: 'note' }],
};
const created = vi.fn();

beforeEach(() => {
  created.mockReset();
  const api = '*/apis/v1beta1';
  server.use(
    http.get(`${api}/pipelines/p1`, () => HttpResponse.json(pipeline)),
    http.get(`${api}/pipelines`, () => HttpResponse.json({ pipelines: [pipeline], total_size: 1 })),
    http.get(`${api}/pipeline_versions`, () =>
      HttpResponse.json({ versions: [{ id: 'v1', name: 'mpi_run', parameters: pipeline.parameters }], total_size: 1 }),
    ),
    http.get(`${api}/pipeline_versions/v1/templates`, () =>
      HttpResponse.json({ template: 'spec: {arguments: {parameters: [{name: workers, description: How many}]}}' }),
    ),
    http.get(`${api}/experiments`, () =>
      HttpResponse.json({ experiments: [{ id: 'e0', name: 'Default' }], total_size: 1 }),
    ),
    http.get(`${api}/experiments/:id`, ({ params }) => HttpResponse.json({ id: params.id, name: String(params.id) })),
    http.post(`${api}/runs`, async ({ request }) => {
      created(await request.json());
      return HttpResponse.json({ run: { id: 'r1' } });
    }),
  );
});

const form = (search = {}) => renderAt('/', '/', () => <NewRunForm search={search} cloned={undefined} />);

it('starts a run with the defaults and what was typed', async () => {
  const router = form({ pipeline: 'p1' });
  const workers = await screen.findByLabelText('workers');
  await userEvent.clear(workers);
  await userEvent.type(workers, '2');
  await userEvent.clear(screen.getByLabelText('data'));
  await screen.findByText('How many');
  await userEvent.clear(screen.getByLabelText(/Run name/));
  await userEvent.type(screen.getByLabelText(/Run name/), 'two workers');
  await userEvent.click(screen.getByRole('button', { name: 'Start' }));

  await vi.waitFor(() => expect(router.state.location.pathname).toBe('/runs/r1'));
  expect(created).toHaveBeenCalledExactlyOnceWith({
    name: 'two workers',
    pipeline_spec: {
      parameters: [
        { name: 'workers', value: '2' },
        { name: 'data', value: '' },
        { name: 'note', value: '' },
      ],
    },
    resource_references: [
      { key: { type: 'EXPERIMENT', id: 'e0' }, relationship: 'OWNER' },
      { key: { type: 'PIPELINE_VERSION', id: 'v1' }, relationship: 'CREATOR' },
    ],
  });
});

it('says what is missing instead of asking the server', async () => {
  form();
  await userEvent.click(await screen.findByRole('button', { name: 'Start' }));
  expect(await screen.findByText('Choose a pipeline.')).toBeTruthy();
  expect(screen.getByText('Give the run a name.')).toBeTruthy();
  expect(created).not.toHaveBeenCalled();
});

it('points at a value that is no number, and goes back to the default', async () => {
  form({ pipeline: 'p1' });
  const workers = await screen.findByLabelText('workers');
  await userEvent.type(workers, ' many');
  expect(await screen.findByText('The default is a number; this is not.')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Back to the default: workers' }));
  expect((workers as HTMLTextAreaElement).value).toBe('1');
});

it('shows why the server refused the run', async () => {
  const error = 'Unrecognized input parameter: x';
  server.use(http.post('*/apis/v1beta1/runs', () => HttpResponse.json({ error, code: 3 }, { status: 400 })));
  form({ pipeline: 'p1', experiment: 'e0' });
  await screen.findByLabelText('workers');
  await userEvent.click(screen.getByRole('button', { name: 'Start' }));
  expect((await screen.findByRole('alert')).textContent).toContain(error);
});
