import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { UploadDialog } from './UploadDialog';

const uploads = '*/apis/v1beta1/pipelines/upload';
const dropped = new File(['x'], 'mpi_run.tar.gz');

it('suggests the name of the file, and goes to the pipeline', async () => {
  const asked = vi.fn();
  server.use(
    http.post(uploads, async ({ request }) => {
      asked(new URL(request.url).searchParams.get('name'), ((await request.formData()).get('uploadfile') as File).name);
      return HttpResponse.json({ id: 'p1', name: 'mpi_run' });
    }),
  );
  const router = renderAt('/', '/', () => <UploadDialog file={dropped} onClose={() => undefined} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Upload' }));
  await waitFor(() => expect(router.state.location.pathname).toBe('/pipelines/p1'));
  expect(asked).toHaveBeenCalledWith('mpi_run', 'mpi_run.tar.gz');
});

it('shows in full why the server refused', async () => {
  const answer = { error_message: 'spec.templates: there are none', error_details: 'pipeline.yaml line 3' };
  server.use(http.post(uploads, () => HttpResponse.json(answer, { status: 400 })));
  renderAt('/', '/', () => <UploadDialog file={dropped} onClose={() => undefined} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Upload' }));
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain(answer.error_message);
  expect(alert.textContent).toContain(answer.error_details);
});

it('asks the server for nothing until there is a file and a name', async () => {
  renderAt('/', '/', () => <UploadDialog onClose={() => undefined} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Upload' }));
  expect(await screen.findByText('Choose a package first.')).toBeTruthy();
  expect(screen.getByText('Give a name.')).toBeTruthy();
});

it('refuses an empty file before it is sent', async () => {
  renderAt('/', '/', () => <UploadDialog file={new File([], 'a.yaml')} onClose={() => undefined} />);
  expect(await screen.findByText('This file is empty.')).toBeTruthy();
});

it('shows the place of a fault with the lines around it', async () => {
  const faults = [
    {
      line: 6,
      column: 16,
      path: 'spec.parallelism',
      message: 'it must be a whole number, and is "many"',
      excerpt: ['spec:', '  entrypoint: main', '  parallelism: many', '  templates:'],
      excerpt_from: 4,
    },
    { line: 9, message: 'not valid YAML: did not find expected node content' },
  ];
  const answer = { error_message: 'the manifest cannot be used', error_details: 'the manifest cannot be used', faults };
  server.use(http.post(uploads, () => HttpResponse.json(answer, { status: 400 })));
  renderAt('/', '/', () => <UploadDialog file={dropped} onClose={() => undefined} />);
  await userEvent.click(await screen.findByRole('button', { name: 'Upload' }));
  const list = await screen.findByRole('list', { name: 'Where it is wrong' });
  const [first, second] = within(list).getAllByRole('listitem');
  expect(first?.textContent).toContain('Line 6, column 16 · spec.parallelism');
  expect(first?.textContent).toContain('it must be a whole number, and is "many"');
  expect(first?.querySelector('[data-wrong]')?.textContent).toBe('›6  parallelism: many\n');
  expect(first?.textContent).toContain('4spec:');
  expect(second?.textContent).toBe('Line 9not valid YAML: did not find expected node content');
});
