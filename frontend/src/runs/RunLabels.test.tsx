import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import type { Run } from '../api/client';
import { isLabelName, isLabelValue } from '../api/labels';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { RunLabels } from './RunLabels';

it.each(['team', 'example.com/goal', 'a_b.c-d', 'x'.repeat(63)])('takes the name %s', (name) => {
  expect(isLabelName(name)).toBe(true);
});

it.each(['', '-a', 'a b', 'a/', 'Domain/a', 'a/b/c', 'x'.repeat(64)])('refuses the name %s', (name) => {
  expect(isLabelName(name)).toBe(false);
});

it('takes an empty value, and refuses one with a space', () => {
  expect([isLabelValue(''), isLabelValue('a b')]).toEqual([true, false]);
});

it('leads from a label to its runs, and tells why a change failed', async () => {
  const run = { id: 'r1', name: 'r1', labels: { team: 'red' } } as unknown as Run;
  const put = vi.fn();
  server.use(
    http.get('*/apis/argosy/v1/runs', () => HttpResponse.json({ runs: [run], total_size: 1 })),
    http.get('*/apis/argosy/v1/runs/r1', () => HttpResponse.json(run)),
    http.put('*/apis/argosy/v1/runs/r1/labels', async ({ request }) => {
      put(await request.json());
      return HttpResponse.json({ error: 'the store is locked' }, { status: 500 });
    }),
  );
  renderAt('/', '/', () => <RunLabels run={run} />);
  const link = await screen.findByText('team=red');
  expect(link.getAttribute('href')).toBe('/runs?q=label%3Ateam%3Dred');
  await userEvent.click(screen.getByRole('button', { name: 'Edit labels' }));
  await userEvent.click(await screen.findByLabelText('Remove team'));
  expect(screen.getByText('No labels yet.')).toBeTruthy();
  await userEvent.click(screen.getByText('Save labels'));
  expect(await screen.findByText(/the store is locked/)).toBeTruthy();
  expect(put).toHaveBeenCalledExactlyOnceWith({ labels: {} });
});
