import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { ClusterVersions } from './ClusterVersions';

const answer = (versions?: { name: string; version: string }[]) =>
  server.use(http.get('*/apis/argosy/v1/cluster', () => HttpResponse.json({ versions })));

it('lists the versions that the server knows', async () => {
  answer([
    { name: 'Kubernetes', version: 'v1.34.4' },
    { name: 'Argo Workflows', version: 'v3.7.18' },
  ]);
  renderAt('/', '/', ClusterVersions);
  expect((await screen.findByText('Kubernetes')).nextElementSibling?.textContent).toBe('v1.34.4');
  expect(screen.getByText('Argo Workflows').nextElementSibling?.textContent).toBe('v3.7.18');
  expect(screen.queryByText('Volcano')).toBeNull();
});

it('says that none is known', async () => {
  answer();
  renderAt('/', '/', ClusterVersions);
  expect(await screen.findByText('The cluster does not tell its versions.')).toBeTruthy();
});

it('says why they cannot be read, and reads them again', async () => {
  const error = 'list the nodes: the cluster does not answer';
  server.use(http.get('*/apis/argosy/v1/cluster', () => HttpResponse.json({ error, code: 14 }, { status: 503 })));
  renderAt('/', '/', ClusterVersions);
  expect((await screen.findByRole('alert')).textContent).toContain(error);
  answer([{ name: 'Kubernetes', version: 'v1.34.4' }]);
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  expect(await screen.findByText('v1.34.4')).toBeTruthy();
});
