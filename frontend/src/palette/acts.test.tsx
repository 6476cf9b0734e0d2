import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Run } from '../api/client';
import { chooseLanguage } from '../i18n';
import { Pause } from '../runs/Pause';
import { RunActions } from '../runs/RunActions';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { Keys } from './Keys';

let sent: string[] = [];

beforeEach(() => {
  sent = [];
  server.use(
    http.get('*/apis/v1beta1/pipelines', () => HttpResponse.json({})),
    http.get('*/apis/argosy/v1/runs', () => HttpResponse.json({})),
    http.post('*', async ({ request }) => {
      const { dry_run } = (await request.json().catch(() => ({}))) as { dry_run?: boolean };
      sent.push(new URL(request.url).pathname + (dry_run ? ' dry' : ''));
      return HttpResponse.json({ results: [{ run_id: 'r1', outcome: 'OUTCOME_DONE' }] });
    }),
  );
});
afterEach(() => chooseLanguage('en'));

const run = (rest: object): Run => ({ id: 'r1', name: 'my run', pipeline: { id: 'p1' }, ...rest });

async function show(page: React.ReactNode = null) {
  const router = renderAt('/', '/', () => (
    <>
      <Keys />
      <h1>some page</h1>
      {page}
    </>
  ));
  await screen.findByText('some page');
  return router;
}
const showRun = (rest: object) => show(<RunActions run={run(rest)} onRetried={() => undefined} />);

/** Opens the palette and types; the names of what is found. */
async function seek(text: string) {
  await userEvent.keyboard('{Control>}k{/Control}');
  await userEvent.type(await screen.findByRole('combobox'), text);
  return screen.queryAllByRole('option').map(({ textContent }) => textContent);
}
const pick = async (text: string) => {
  await seek(text);
  await userEvent.keyboard('{Enter}');
};

it('offers what can be done with the run that is shown, and nothing of it elsewhere', async () => {
  await showRun({ status: 'Running' });
  const found = await seek('{Backspace}');
  expect(found.slice(0, 4)).toEqual(['Terminatemy run', 'Run againmy run', 'Archivemy run', 'Comparemy run']);
  expect(found.some((text) => text?.startsWith('Retry'))).toBe(false);
});

it('offers a retry of a run that failed, and brings one back from the archive', async () => {
  await showRun({ status: 'Failed', archived: true });
  const found = await seek('{Backspace}');
  expect(found.slice(0, 4)).toEqual(['Retrymy run', 'Run againmy run', 'Restoremy run', 'Comparemy run']);
});

it('offers no acts of a run on other pages', async () => {
  await show();
  expect(await seek('Archive')).toEqual([]);
});

it('asks before it terminates', async () => {
  await showRun({ status: 'Running' });
  await pick('termi');
  const dialog = await screen.findByRole('dialog', { name: /Terminate/ });
  expect(sent).toEqual([]);
  await userEvent.click(within(dialog).getByRole('button', { name: /Terminate/ }));
  await waitFor(() => expect(sent).toEqual(['/apis/v1beta1/runs/r1/terminate']));
});

it('says what an archive does before it is done', async () => {
  await showRun({ status: 'Succeeded' });
  await pick('archi');
  await waitFor(() => expect(sent).toEqual(['/apis/argosy/v1/runs:archive dry']));
  await userEvent.click(await screen.findByRole('button', { name: /^Archive/ }));
  await waitFor(() => expect(sent.at(-1)).toBe('/apis/argosy/v1/runs:archive'));
});

it('clones and compares on their pages', async () => {
  const router = await showRun({ status: 'Succeeded' });
  await pick('run again');
  await waitFor(() => expect(router.state.location.href).toBe('/runs/new?clone=r1'));
});

it('compares the run', async () => {
  const router = await showRun({ status: 'Succeeded' });
  await seek('compare');
  // The page of that name has the same word.
  await userEvent.click(screen.getByRole('option', { name: /my run/ }));
  await waitFor(() => expect(router.state.location.href).toBe('/compare?runs=r1'));
});

it('uploads from every page', async () => {
  await show();
  await pick('upload');
  expect(await screen.findByRole('dialog', { name: /Upload/ })).toBeTruthy();
});

it('pauses a list', async () => {
  const onPause = vi.fn();
  await show(<Pause paused={false} changes={0} onPause={onPause} onShow={() => undefined} />);
  await pick('pause');
  expect(onPause).toHaveBeenCalledWith(true);
});

it('changes theme and language', async () => {
  await show();
  await pick('dark');
  await waitFor(() => expect(document.documentElement.dataset.mantineColorScheme).toBe('dark'));
  await pick('chinese');
  await waitFor(() => expect(document.documentElement.lang).toBe('zh-CN'));
  await pick('english');
  await waitFor(() => expect(document.documentElement.lang).toBe('en'));
});
