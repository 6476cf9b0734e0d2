import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runStatuses } from '../status/status';
import { renderApp } from '../test/render';
import { tokens } from '../test/styles';
import './ComponentsPage';
import { kindOf, readTokens } from './tokens';

// There is no canvas.
vi.mock('uplot', () => ({
  default: class {
    ctx = { canvas: null };
    setData() {}
    setSize() {}
    destroy() {}
  },
}));

const sheet = document.createElement('style');

beforeEach(() => {
  sheet.textContent = tokens;
  document.head.append(sheet);
  document.documentElement.dataset.mantineColorScheme = 'light';
});
afterEach(() => sheet.remove());

it('reads the tokens that the style sheets declare', () => {
  const declared = new Set([...tokens.matchAll(/^\s*(--ar-[\w-]+):/gm)].map(([, name]) => name));
  const read = new Map(readTokens().map(({ name, value }) => [name, value]));
  expect(new Set(read.keys())).toEqual(declared);
  expect(read.get('--ar-space-8')).toBe('0.5rem');
});

it.each([
  ['--ar-space-8', 'space'],
  ['--ar-text', 'ground'],
  ['--ar-text-sm', 'text'],
  ['--ar-ok-bg', 'state'],
  ['--ar-series-1', 'series'],
  ['--ar-surface', 'ground'],
  ['--ar-nav', 'nav'],
])('%s is of the kind %s', (name, kind) => expect(kindOf(name)).toBe(kind));

it('shows every state, the tokens, and dialogs, and asks the server for nothing', async () => {
  renderApp('/components');
  const sizes = await screen.findByRole('table', { name: 'Spacing' });
  expect(within(sizes).getByText('--ar-space-8')).toBeTruthy();
  const states = screen.getByRole('region', { name: 'States' });
  for (const status of [...runStatuses, 'Skipped', 'Omitted']) {
    expect(states.querySelectorAll(`[data-status="${status}"]`).length, status).toBeGreaterThanOrEqual(2);
  }
  await userEvent.click(screen.getByRole('button', { name: 'Open a dialog whose action failed' }));
  const dialog = await screen.findByRole('dialog');
  expect(within(dialog).getByRole('alert').textContent).toContain('has schedules');
});
