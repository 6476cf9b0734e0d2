import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { beforeEach, expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { SchedulePage } from './SchedulePage';
import { SchedulesPage } from './SchedulesPage';

const created_at = '2026-01-01T00:00:00Z';
const jobs = [
  {
    id: 's1',
    name: 'nightly',
    enabled: true,
    status: 'Enabled',
    created_at,
    max_concurrency: '2',
    trigger: { cron_schedule: { cron: '0 3 * * *' } },
    resource_references: [{ key: { type: 'PIPELINE_VERSION', id: 'v1' }, name: 'one', relationship: 'CREATOR' }],
    pipeline_spec: { parameters: [{ name: 'workers', value: '4' }] },
  },
  {
    id: 's2',
    name: 'hourly',
    enabled: false,
    status: 'Disabled',
    created_at,
    no_catchup: true,
    trigger: { periodic_schedule: { interval_second: '3600' } },
    pipeline_spec: { parameters: [{ name: 'at', value: '[[ScheduledTime]]' }] },
  },
];
const asked = vi.fn();

beforeEach(() => {
  asked.mockReset();
  server.use(
    http.get('*/apis/v1beta1/jobs', () => HttpResponse.json({ jobs, total_size: 2 })),
    http.get('*/apis/v1beta1/jobs/:id', ({ params }) => HttpResponse.json(jobs.find(({ id }) => id === params.id))),
    http.get('*/apis/argosy/v1/runs', ({ request }) => {
      asked(new URL(request.url).search);
      return HttpResponse.json({
        runs: [
          { id: 'r2', name: 'two', status: 'Failed', schedule: { id: 's1' }, created_at },
          { id: 'r1', name: 'one', status: 'Succeeded', schedule: { id: 's1' }, created_at },
        ],
        total_size: 2,
      });
    }),
  );
});

it('lists schedules with their states, next times and last runs, which are asked for once', async () => {
  renderAt('/schedules', '/schedules', SchedulesPage);
  const nightly = await screen.findByRole('row', { name: /nightly/ });
  expect(within(nightly).getByText('Enabled')).toBeTruthy();
  await within(nightly).findByRole('link', { name: 'two: Failed' });
  const strip = within(nightly)
    .getAllByRole('listitem')
    .map((item) => within(item).getByRole('link').getAttribute('aria-label'));
  expect(strip).toEqual(['one: Succeeded', 'two: Failed']);
  const hourly = screen.getByRole('row', { name: /hourly/ });
  expect(within(hourly).getByText('Paused')).toBeTruthy();
  expect(within(hourly).getByText('every 1 hour')).toBeTruthy();
  expect(asked).toHaveBeenCalledOnce();
});

it('pauses a schedule and lets it go on', async () => {
  const changed = vi.fn();
  server.use(
    http.post('*/apis/v1beta1/jobs/:id/:what', ({ params }) => {
      changed(params.id, params.what);
      return HttpResponse.json({});
    }),
  );
  renderAt('/schedules', '/schedules', SchedulesPage);
  await userEvent.click(await screen.findByRole('button', { name: 'Pause: nightly' }));
  // Two requests that are on their way together may arrive in any order.
  await waitFor(() => expect(changed).toHaveBeenCalledExactlyOnceWith('s1', 'disable'));
  await userEvent.click(await screen.findByRole('button', { name: 'Enable: hourly' }));
  await waitFor(() =>
    expect(changed.mock.calls).toEqual([
      ['s1', 'disable'],
      ['s2', 'enable'],
    ]),
  );
});

it('explains a schedule, and runs it now with its version and its parameters', async () => {
  const started = vi.fn();
  server.use(
    http.post('*/apis/v1beta1/runs', async ({ request }) => {
      started(await request.json());
      return HttpResponse.json({ run: { id: 'r9' } });
    }),
  );
  const router = renderAt('/schedules/s1', '/schedules/$scheduleId', SchedulePage);
  expect(await screen.findByText(/At most 2 runs go on at a time/)).toBeTruthy();
  expect(screen.getByText('Each missed time gets its run later, one after the other.')).toBeTruthy();
  const times = screen.getByRole('region', { name: 'When' });
  expect(within(times).getAllByRole('listitem')).toHaveLength(5);
  await userEvent.click(screen.getByRole('button', { name: 'Run now' }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/runs/r9'));
  expect(started.mock.calls[0]?.[0]).toMatchObject({
    pipeline_spec: { parameters: [{ name: 'workers', value: '4' }] },
    resource_references: [{ key: { type: 'PIPELINE_VERSION', id: 'v1' }, relationship: 'CREATOR' }],
  });
});

it('opens the form where only the schedule can fill in the times', async () => {
  renderAt('/schedules/s2', '/schedules/$scheduleId', SchedulePage);
  const link = await screen.findByRole('link', { name: 'Run now' });
  expect(link.getAttribute('href')).toBe('/runs/new?schedule=s2');
});
