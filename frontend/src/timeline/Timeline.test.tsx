import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Run } from '../api/client';
import type { RunSearch } from '../runs/runSearch';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { Timeline } from './Timeline';

const at = (second: number) =>
  `2026-01-01T00:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}Z`;
const pod = (id: string, from: number, to: number) => ({
  id,
  name: id,
  display_name: id,
  type: 'Pod',
  phase: 'Succeeded',
  started_at: at(from),
  finished_at: at(to),
});
const run = {
  id: 'r1',
  name: 'r1',
  status: 'Succeeded',
  finished_at: at(100),
  nodes: [pod('first', 0, 20), pod('last', 60, 100)],
} as unknown as Run;

let events: object[] = [];
beforeEach(() => {
  events = [];
  server.use(
    http.get('*/apis/argosy/v1/runs/r1/logs', () => HttpResponse.json({ logs: [] })),
    http.get('*/apis/argosy/v1/runs/r1/cluster-events', () => HttpResponse.json({ events })),
  );
});

async function show(search: RunSearch = {}) {
  const onShow = vi.fn();
  renderAt('/', '/', () => (
    <Timeline run={run} search={search} selected={undefined} onSelect={() => undefined} onShow={onShow} />
  ));
  await screen.findByRole('table');
  return onShow;
}

const asked = (onShow: ReturnType<typeof vi.fn>, during: string | undefined) =>
  waitFor(() => expect(onShow).toHaveBeenLastCalledWith({ during }));
const area = () => screen.getByRole('region', { name: /^Timeline\./ });
const bars = (name: string) =>
  [...within(screen.getByRole('row', { name: new RegExp(name) })).getAllByTitle(/attempt/)].map(
    (bar) => (bar as HTMLElement).style.cssText,
  );

it('draws the part that the address says, cut off at its ends', async () => {
  await show({ during: '50~70' });
  expect(screen.getByText('00:00:50')).toBeTruthy();
  expect(bars('last')).toEqual(['left: 50%; width: 50%;']);
  expect(within(screen.getByRole('row', { name: /first/ })).queryByTitle(/attempt/)).toBeNull();
});

it('zooms by keys and keeps the range in the address', async () => {
  const onShow = await show();
  area().focus();
  await userEvent.keyboard('+');
  await asked(onShow, '25~75');
  await userEvent.keyboard('{ArrowRight}');
  await asked(onShow, '50~100');
  await userEvent.keyboard('-');
  await asked(onShow, undefined);
});

it('zooms by buttons, and offers the whole only where a part is shown', async () => {
  const onShow = await show();
  const zoom = screen.getByRole('group', { name: 'Zoom' });
  expect(within(zoom).queryByRole('button', { name: 'Whole range' })).toBeNull();
  await userEvent.click(within(zoom).getByRole('button', { name: /^Zoom in/ }));
  await asked(onShow, '25~75');
  await userEvent.click(within(zoom).getByRole('button', { name: /^Earlier/ }));
  await asked(onShow, '0~50');
  await userEvent.click(within(zoom).getByRole('button', { name: 'Whole range' }));
  await asked(onShow, undefined);
});

function lane() {
  const cell = document.querySelector('[data-lane]') as HTMLElement;
  cell.getBoundingClientRect = () => ({ left: 100, width: 200 }) as DOMRect;
  return cell;
}

it('zooms to what a drag is drawn over, and a click zooms nowhere', async () => {
  const onShow = await show();
  fireEvent.pointerDown(lane(), { clientX: 150, button: 0 });
  fireEvent.pointerUp(window, { clientX: 151 });
  fireEvent.pointerDown(lane(), { clientX: 250, button: 0 });
  fireEvent.pointerMove(window, { clientX: 200 });
  fireEvent.pointerUp(window, { clientX: 150 });
  await asked(onShow, '25~75');
  expect(onShow).toHaveBeenCalledOnce();
});

/** Turns the wheel at the left end; whether the page may scroll by it. happy-dom's WheelEvent has no keys. */
function turn(ctrlKey: boolean): boolean {
  const event = new MouseEvent('wheel', { ctrlKey, clientX: 100, bubbles: true, cancelable: true });
  return fireEvent(lane(), Object.assign(event, { deltaY: -1 }));
}

it('zooms by the wheel with Ctrl where the pointer is, and leaves the page alone', async () => {
  const onShow = await show();
  expect(turn(false)).toBe(true);
  expect(turn(true)).toBe(false);
  await asked(onShow, '0~80');
  expect(onShow).toHaveBeenCalledOnce();
});

it('shows images being pulled apart from waiting', async () => {
  const event = (reason: string, second: number, message: string) => ({
    kind: 'Pod',
    name: 'p',
    node_id: 'first',
    reason,
    message,
    count: 1,
    first_at: at(second),
    last_at: at(second),
  });
  events = [event('Pulled', 15, 'Successfully pulled image "a" in 10s'), event('Pulling', 5, 'Pulling image "a"')];
  await show();
  expect(await screen.findByRole('columnheader', { name: 'Pulled' })).toBeTruthy();
  expect(screen.getByTitle(/^pulling images, attempt 1: 10s/).style.cssText).toBe('left: 5%; width: 10%;');
});
