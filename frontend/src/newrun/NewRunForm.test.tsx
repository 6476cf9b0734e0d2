import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { beforeEach, expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { NewRunForm } from './NewRunForm';
import { sourceOfSchedule } from './source';
import { newTrigger } from './triggerDraft';

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
    http.post('*/apis/argosy/v1/runs', () => HttpResponse.json({ run: {}, checked: true })),
    http.post(`${api}/runs`, async ({ request }) => {
      created(await request.json());
      return HttpResponse.json({ run: { id: 'r1' } });
    }),
  );
});

const form = (search = {}) => renderAt('/', '/', () => <NewRunForm search={search} source={undefined} />);

/** The button of the form, once all is read that fills the form in. */
async function ready(name: string) {
  const button = await screen.findByRole('button', { name });
  await waitFor(() => expect(button).toHaveProperty('disabled', false));
  return button;
}

it('starts a run, and sends only what differs from the defaults', async () => {
  const router = form({ pipeline: 'p1' });
  const workers = await screen.findByLabelText('workers');
  expect(screen.getByText('Every parameter has its default.')).toBeTruthy();
  await userEvent.clear(workers);
  await userEvent.type(workers, '2');
  await userEvent.clear(screen.getByLabelText('data'));
  expect(screen.getByText('2 parameters differ from their defaults; only those are sent.')).toBeTruthy();
  await screen.findByText('How many');
  await userEvent.clear(screen.getByLabelText(/Run name/));
  await userEvent.type(screen.getByLabelText(/Run name/), 'two workers');
  await userEvent.click(await ready('Start'));

  await waitFor(() => expect(router.state.location.pathname).toBe('/runs/r1'));
  expect(created).toHaveBeenCalledExactlyOnceWith({
    name: 'two workers',
    pipeline_spec: {
      parameters: [
        { name: 'workers', value: '2' },
        { name: 'data', value: '' },
      ],
    },
    resource_references: [
      { key: { type: 'EXPERIMENT', id: 'e0' }, relationship: 'OWNER' },
      { key: { type: 'PIPELINE_VERSION', id: 'v1' }, relationship: 'CREATOR' },
    ],
  });
});

it('blocks what the cluster can never hold, and says what to lower', async () => {
  const asked = vi.fn();
  const shortage = {
    step: 'train',
    asks: '8 workers x 2 CPUs = 16',
    has: 'this cluster has 4',
    change: 'lower cpu, or add nodes',
    parameters: ['cpu'],
  };
  server.use(
    http.post('*/apis/argosy/v1/runs', async ({ request }) => {
      const body = (await request.json()) as { parameters: { value: string }[] };
      asked(body);
      return HttpResponse.json({ checked: true, shortages: body.parameters[0]?.value === '8' ? [shortage] : [] });
    }),
  );
  form({ pipeline: 'p1', experiment: 'e0' });
  expect(await screen.findByText('The cluster can hold every step of this run.')).toBeTruthy();
  expect(asked).toHaveBeenCalledExactlyOnceWith({ version_id: 'v1', parameters: [], dry_run: true });
  const workers = await screen.findByLabelText('workers');
  await userEvent.clear(workers);
  await userEvent.type(workers, '8');
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(
    'Step “train” asks 8 workers x 2 CPUs = 16; this cluster has 4: lower cpu, or add nodes',
  );
  const start = screen.getByRole('button', { name: 'Start' });
  await waitFor(() => expect(start).toHaveProperty('disabled', true));
  await userEvent.clear(workers);
  await userEvent.type(workers, '2');
  await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
  expect(start).toHaveProperty('disabled', false);
  expect(created).not.toHaveBeenCalled();
});

it('says before the start why the server would refuse the run', async () => {
  server.use(
    http.post('*/apis/argosy/v1/runs', () =>
      HttpResponse.json({ error: 'no node selector', code: 3 }, { status: 400 }),
    ),
  );
  form({ pipeline: 'p1', experiment: 'e0' });
  expect((await screen.findByRole('alert')).textContent).toContain('no node selector');
  expect(screen.getByRole('button', { name: 'Start' })).toHaveProperty('disabled', true);
});

it('warns of what steps refer to and what is not there, and starts the run all the same', async () => {
  const why = 'secret "token" not found: create it in namespace kubeflow, and the step goes on';
  server.use(
    http.post('*/apis/argosy/v1/runs', () =>
      HttpResponse.json({ run: {}, checked: true, concerns: [{ step: 'train', why }] }),
    ),
  );
  form({ pipeline: 'p1', experiment: 'e0' });
  expect(await screen.findByText(`Step “train”: ${why}`)).toBeTruthy();
  expect(screen.getByText('The cluster can hold every step of this run.')).toBeTruthy();
  await waitFor(() => expect(screen.getByRole('button', { name: 'Start' })).toHaveProperty('disabled', false));
});

it('says what is missing instead of asking the server', async () => {
  form();
  await userEvent.click(await ready('Start'));
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
  expect((workers as HTMLInputElement).value).toBe('1');
});

it('shows why the server refused the run', async () => {
  const error = 'Unrecognized input parameter: x';
  server.use(http.post('*/apis/v1beta1/runs', () => HttpResponse.json({ error, code: 3 }, { status: 400 })));
  form({ pipeline: 'p1', experiment: 'e0' });
  await screen.findByLabelText('workers');
  await userEvent.click(await ready('Start'));
  expect((await screen.findByRole('alert')).textContent).toContain(error);
});

const rules = `metadata:
  annotations:
    argosy.dev/sdk_version: "1"
    pipelines.kubeflow.org/pipeline_spec: '{"inputs":[{"name":"workers","type":"Integer","minimum":1,"maximum":8},{"name":"shuffle","type":"Bool"},{"name":"rates","type":"JsonArray"}]}'
spec: {arguments: {parameters: [{name: workers}, {name: shuffle}, {name: rates}, {name: optimizer, enum: [sgd, adam]}]}}`;

it('has a field for each type, with its range', async () => {
  const parameters = [
    { name: 'workers', value: '8' },
    { name: 'shuffle', value: 'False' },
    { name: 'rates', value: '[0.1]' },
    { name: 'optimizer', value: 'sgd' },
  ];
  server.use(
    http.get('*/apis/v1beta1/pipeline_versions', () =>
      HttpResponse.json({ versions: [{ id: 'v1', name: 'one', parameters }], total_size: 1 }),
    ),
    http.get('*/apis/v1beta1/pipeline_versions/v1/templates', () => HttpResponse.json({ template: rules })),
  );
  form({ pipeline: 'p1' });
  const optimizer = await screen.findByRole('combobox', { name: 'optimizer' });
  expect(screen.getByText('a whole number from 1 to 8')).toBeTruthy();

  const workers = screen.getByLabelText('workers');
  await userEvent.type(workers, '{ArrowUp}');
  expect((workers as HTMLInputElement).value).toBe('8');
  await userEvent.type(workers, '{ArrowDown}');
  expect((workers as HTMLInputElement).value).toBe('7');
  await userEvent.selectOptions(optimizer, 'adam');
  await userEvent.click(screen.getByRole('switch', { name: 'shuffle' }));
  await userEvent.clear(screen.getByLabelText('rates'));
  await userEvent.click(await ready('Start'));
  expect(created).not.toHaveBeenCalled();
  await userEvent.type(screen.getByLabelText('rates'), '[[0.2]');
  await userEvent.click(await ready('Start'));
  await waitFor(() => expect(created).toHaveBeenCalled());
  expect(created.mock.calls[0]?.[0].pipeline_spec.parameters).toEqual([
    { name: 'workers', value: '7' },
    { name: 'shuffle', value: 'True' },
    { name: 'rates', value: '[0.2]' },
    { name: 'optimizer', value: 'adam' },
  ]);
});

it('shows the difference from the run that it copies, and the command', async () => {
  const source = {
    name: 'earlier 2026-01-02 03:04:05',
    description: '',
    pipelineID: 'p1',
    experimentID: 'e0',
    parameters: [{ name: 'workers', value: '4' }],
    trigger: newTrigger,
  };
  renderAt('/', '/', () => <NewRunForm search={{}} source={source} />);
  const workers = await screen.findByLabelText('workers');
  expect((workers as HTMLInputElement).value).toBe('4');
  expect(await screen.findByText(/-p workers=4$/)).toBeTruthy();
  await userEvent.clear(workers);
  await userEvent.type(workers, '5');
  expect(screen.getByText('In earlier 2026-01-02 03:04:05: 4')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Take it: workers' }));
  expect((workers as HTMLInputElement).value).toBe('4');
});

it('makes a schedule, with the next five times written out', async () => {
  const asked = vi.fn();
  server.use(
    http.post('*/apis/v1beta1/jobs', async ({ request }) => {
      asked(await request.json());
      return HttpResponse.json({ id: 's2' });
    }),
  );
  const search = { pipeline: 'p1', experiment: 'e0', recurring: true };
  const router = renderAt('/', '/', () => <NewRunForm search={search} source={undefined} />);
  await screen.findByLabelText('workers');
  expect(within(screen.getByRole('region', { name: 'Next times' })).getAllByRole('listitem')).toHaveLength(5);
  await userEvent.click(screen.getByRole('radio', { name: 'Cron expression' }));
  const cron = screen.getByLabelText('Expression, in UTC');
  await userEvent.clear(cron);
  await userEvent.type(cron, 'daily');
  await userEvent.click(await ready('Start the schedule'));
  expect(asked).not.toHaveBeenCalled();
  await userEvent.clear(cron);
  await userEvent.type(cron, '@daily');
  await userEvent.click(await ready('Start the schedule'));
  await waitFor(() => expect(router.state.location.pathname).toBe('/schedules/s2'));
  expect(asked.mock.calls[0]?.[0]).toMatchObject({
    enabled: true,
    max_concurrency: '1',
    no_catchup: false,
    trigger: { cron_schedule: { cron: '@daily' } },
  });
});

it('changes a schedule in place, by its own name', async () => {
  const asked = vi.fn();
  server.use(
    http.put('*/apis/argosy/v1/schedules/s1', async ({ request }) => {
      asked(await request.json());
      return HttpResponse.json({ id: 's1' });
    }),
  );
  const source = {
    name: 'nightly',
    description: '',
    pipelineID: 'p1',
    versionID: 'v1',
    experimentID: 'e0',
    parameters: [{ name: 'workers', value: '4' }],
    trigger: { ...newTrigger, kind: 'cron' as const, cron: '@daily', maxConcurrency: 2, catchUp: false },
    serviceAccount: 'trainer',
  };
  const search = { recurring: true, replace: true, schedule: 's1' };
  const router = renderAt('/', '/', () => <NewRunForm search={search} source={source} />);
  const cron = await screen.findByLabelText('Expression, in UTC');
  await userEvent.clear(cron);
  await userEvent.type(cron, '@weekly');
  expect(await screen.findByText('argosy schedule edit nightly --cron @weekly')).toBeTruthy();
  await userEvent.click(await ready('Save the schedule'));
  await waitFor(() => expect(router.state.location.pathname).toBe('/schedules/s1'));
  expect(asked.mock.calls[0]?.[0]).toMatchObject({
    name: 'nightly',
    max_concurrency: '2',
    no_catchup: true,
    service_account: 'trainer',
    pipeline_spec: { parameters: [{ name: 'workers', value: '4' }] },
    trigger: { cron_schedule: { cron: '@weekly' } },
  });
});

it('changes a schedule whose version is deleted', async () => {
  const asked = vi.fn();
  server.use(
    http.put('*/apis/argosy/v1/schedules/s1', async ({ request }) => {
      asked(await request.json());
      return HttpResponse.json({ id: 's1' });
    }),
  );
  const manifest = { spec: { arguments: { parameters: [{ name: 'lines', value: '10' }] } } };
  const job = {
    id: 's1',
    name: 'nightly',
    pipeline_spec: { pipeline_id: 'p1', workflow_manifest: JSON.stringify(manifest), parameters: [] },
    resource_references: [
      { key: { type: 'EXPERIMENT' as const, id: 'e0' } },
      { key: { type: 'PIPELINE_VERSION' as const, id: 'gone' } },
    ],
    trigger: { periodic_schedule: { interval_second: '3600' } },
  };
  const source = sourceOfSchedule(job, true);
  const search = { recurring: true, replace: true, schedule: 's1' };
  const router = renderAt('/', '/', () => <NewRunForm search={search} source={source} />);
  await userEvent.type(await screen.findByLabelText('lines'), '0');
  expect(screen.getByText(/was deleted\. The schedule keeps it/)).toBeTruthy();
  expect(screen.getByRole('option', { name: 'deleted version', selected: true })).toBeTruthy();
  expect(screen.getByText('argosy schedule edit nightly -p lines=100')).toBeTruthy();
  await userEvent.click(await ready('Save the schedule'));
  await waitFor(() => expect(router.state.location.pathname).toBe('/schedules/s1'));
  expect(asked.mock.calls[0]?.[0]).toMatchObject({
    resource_references: [{}, { key: { type: 'PIPELINE_VERSION', id: 'gone' } }],
    pipeline_spec: { parameters: [{ name: 'lines', value: '100' }] },
  });
});

it('takes values from the address, and writes what is typed there', async () => {
  const router = form({ pipeline: 'p1', 'p.workers': '4', 'p.gone': '1' });
  const workers = await screen.findByLabelText('workers');
  expect((workers as HTMLInputElement).value).toBe('4');
  expect(screen.getByText(/does not have: gone\. They are left out\./)).toBeTruthy();
  await userEvent.type(workers, '2');
  await waitFor(() => expect(router.state.location.search).toMatchObject({ pipeline: 'p1', 'p.workers': '42' }));
  await userEvent.click(screen.getByRole('button', { name: 'Back to the default: workers' }));
  await waitFor(() => expect(router.state.location.search).not.toHaveProperty('p.workers'));
});

it('takes values from a file, and names those that it cannot take', async () => {
  form({ pipeline: 'p1' });
  const workers = await screen.findByLabelText('workers');
  const text = 'workers: 3\nnote: [1, 2]\nworkrs: 4\n';
  const input = document.querySelector('input[type=file]') as HTMLInputElement;
  await userEvent.upload(input, new File([text], 'values.yaml'));
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('Not taken from values.yaml');
  expect(alert.textContent).toContain(
    'Line 3: workrs: The pipeline has no such parameter; it has workers, data, note.',
  );
  expect(screen.getByText('2 values taken from values.yaml.')).toBeTruthy();
  expect((workers as HTMLInputElement).value).toBe('3');
  expect((screen.getByLabelText('note') as HTMLInputElement).value).toBe('[1,2]');
});
