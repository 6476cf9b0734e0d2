import { screen } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { DataTable } from './DataTable';

/** Says the size of what it observes at once. */
class Observer {
  private readonly told: () => void;
  constructor(told: () => void) {
    this.told = told;
  }
  observe() {
    this.told();
  }
  unobserve() {}
  disconnect() {}
}

const show = (content: number) => {
  vi.stubGlobal('ResizeObserver', Observer);
  vi.spyOn(HTMLElement.prototype, 'scrollWidth', 'get').mockReturnValue(content);
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(360);
  const columns = [{ id: 'name', header: 'Name', cell: (row: string) => row }];
  renderAt('/', '/', () => <DataTable caption="Nodes, 1" columns={columns} rows={['n1']} rowID={(row) => row} />);
};

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('lets the keyboard into a table that must be scrolled, and adds no stop to others', async () => {
  show(900);
  expect((await screen.findByRole('region', { name: 'Nodes, 1' })).tabIndex).toBe(0);
});

it('adds no stop to a table that fits', async () => {
  show(360);
  await screen.findByText('n1');
  expect(screen.queryByRole('region')).toBeNull();
});
