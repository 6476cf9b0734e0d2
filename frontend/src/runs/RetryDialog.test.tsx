import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import type { Run, RunNode } from '../api/client';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { RetryDialog } from './RetryDialog';
import { RunParameters } from './RunParameters';

const step = { id: 'n2', name: 'n2', display_name: 'train', type: 'Pod', phase: 'Failed' } as RunNode;
const run = {
  id: 'r1',
  name: 'r1',
  status: 'Failed',
  nodes: [step, { id: 'n3', name: 'n3', display_name: 'evaluate', type: 'Pod', phase: 'Omitted' }],
  parameters: [
    { name: 'lr', value: '0.1' },
    { name: 'epochs', value: '3' },
  ],
  pipeline: { version_id: 'v1' },
} as unknown as Run;

interface Body {
  step?: string;
  dry_run?: boolean;
  parameters?: object[];
}

it('says what would run again, and sends the parameters that were changed and no others', async () => {
  const bodies: Body[] = [];
  server.use(
    http.post('*/apis/argosy/v1/runs/r1\\:retry', async ({ request }) => {
      bodies.push((await request.json()) as Body);
      return HttpResponse.json({ again: ['n2', 'n3'], attempt: '2', warnings: ['collect used lr=0.1'] });
    }),
  );
  const onRetried = vi.fn();
  renderAt('/', '/', () => <RetryDialog run={run} step={step} onClose={() => undefined} onRetried={onRetried} />);
  expect(await screen.findByText('2 steps run again. What succeeded before them is kept.')).toBeTruthy();
  expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual(['train', 'evaluate']);
  expect(screen.getByText('collect used lr=0.1')).toBeTruthy();
  expect(bodies).toEqual([{ step: 'n2', parameters: [], dry_run: true }]);

  await userEvent.click(screen.getByText('Change parameters'));
  const field = await screen.findByLabelText('lr');
  await userEvent.clear(field);
  await userEvent.type(field, '0.01');
  await userEvent.click(screen.getByRole('button', { name: 'Run again from there' }));
  await waitFor(() => expect(onRetried).toHaveBeenCalled());
  expect(bodies.at(-1)).toEqual({ step: 'n2', parameters: [{ name: 'lr', value: '0.01' }], dry_run: false });
});

it('shows why the server refuses, and sends nothing then', async () => {
  server.use(
    http.post('*/apis/argosy/v1/runs/r1\\:retry', () =>
      HttpResponse.json({ error: 'the run goes on' }, { status: 400 }),
    ),
  );
  renderAt('/', '/', () => <RetryDialog run={run} onClose={() => undefined} onRetried={() => undefined} />);
  expect((await screen.findByRole('alert')).textContent).toContain('the run goes on');
  // Without a step there is no "there".
  expect(screen.queryByRole('button', { name: 'Run again from there' })).toBeNull();
  expect(screen.getByRole('button', { name: 'Retry' })).toHaveProperty('disabled', true);
});

it('has a field for each type of parameter, and refuses a value that is not of it', async () => {
  const inputs = [
    { name: 'epochs', type: 'Integer', minimum: 1 },
    { name: 'fp16', type: 'Bool' },
  ];
  const manifest = JSON.stringify({
    metadata: {
      annotations: {
        'argosy.dev/sdk_version': '1',
        'pipelines.kubeflow.org/pipeline_spec': JSON.stringify({ inputs }),
      },
    },
    spec: { arguments: { parameters: inputs.map(({ name }) => ({ name })) } },
  });
  const retried = vi.fn();
  server.use(
    http.post('*/apis/argosy/v1/runs/r1\\:retry', async ({ request }) => {
      retried(await request.json());
      return HttpResponse.json({ again: ['n2'], attempt: '2', warnings: ['kept steps used lr=0.1'] });
    }),
    http.get('*/apis/v1beta1/pipeline_versions/v1/templates', () => HttpResponse.json({ template: manifest })),
    http.get('*/apis/v1beta1/pipeline_versions/v1', () =>
      HttpResponse.json({ id: 'v1', parameters: [{ name: 'epochs', value: '5' }] }),
    ),
  );
  const typed = {
    ...run,
    pipeline: { id: 'p1', version_id: 'v1' },
    parameters: [
      { name: 'epochs', value: '3' },
      { name: 'fp16', value: 'true' },
    ],
  } as Run;
  renderAt('/', '/', () => (
    <RetryDialog run={typed} step={step} changing onClose={() => undefined} onRetried={() => undefined} />
  ));
  expect(await screen.findByText('Know this before you retry')).toBeTruthy();
  await userEvent.click(await screen.findByRole('switch', { name: 'fp16' }));
  const epochs = screen.getByLabelText('epochs');
  expect(await screen.findByText('Default: 5')).toBeTruthy();
  await userEvent.clear(epochs);
  await userEvent.type(epochs, 'many');
  const go = screen.getByRole('button', { name: 'Run again from there' });
  expect(go).toHaveProperty('disabled', true);
  await userEvent.click(screen.getByRole('button', { name: 'Back to the default: epochs' }));
  expect(epochs).toHaveProperty('value', '5');
  await userEvent.click(go);
  await waitFor(() =>
    expect(retried).toHaveBeenLastCalledWith({
      step: 'n2',
      parameters: [
        { name: 'epochs', value: '5' },
        { name: 'fp16', value: 'false' },
      ],
      dry_run: false,
    }),
  );
});

it('shows the parameters of a run beside their defaults', async () => {
  server.use(
    http.get('*/apis/v1beta1/pipeline_versions/v1', () =>
      HttpResponse.json({
        id: 'v1',
        parameters: [
          { name: 'lr', value: '0.5' },
          { name: 'epochs', value: '3' },
        ],
      }),
    ),
  );
  renderAt('/', '/', () => <RunParameters run={run} />);
  expect((await screen.findByRole('row', { name: /0\.5/ })).textContent).toBe('lr0.1changed0.5');
  expect(screen.getByRole('row', { name: /epochs/ }).textContent).toBe('epochs33');
});
