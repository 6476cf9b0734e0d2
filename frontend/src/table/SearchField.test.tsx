import { MantineProvider } from '@mantine/core';
import { act, fireEvent, render, screen } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { SearchField } from './SearchField';

/** A field beside an address that takes over what was sent only when it is told to. */
function show() {
  const onSearch = vi.fn();
  const page = (q: string | undefined) => (
    <MantineProvider env="test">
      <SearchField aria-label="words" q={q} onSearch={onSearch} />
    </MantineProvider>
  );
  const { rerender } = render(page(undefined));
  const field = screen.getByLabelText('words') as HTMLInputElement;
  return {
    onSearch,
    field,
    type: (value: string) => fireEvent.change(field, { target: { value } }),
    keep: (q: string | undefined) => act(() => rerender(page(q))),
  };
}

it('keeps what was typed while the address lags behind', () => {
  const { field, type, keep, onSearch } = show();
  type('a');
  expect(field.value).toBe('a');
  type('ab');
  keep('a');
  expect(field.value).toBe('ab');
  type('abc');
  keep('abc');
  expect(field.value).toBe('abc');
  expect(onSearch.mock.calls).toEqual([['a'], ['ab'], ['abc']]);
});

it('shows what a link or the way back puts into the address', () => {
  const { field, type, keep } = show();
  type('a');
  keep('a');
  keep('other');
  expect(field.value).toBe('other');
  keep('a');
  expect(field.value).toBe('a');
  keep(undefined);
  expect(field.value).toBe('');
});
