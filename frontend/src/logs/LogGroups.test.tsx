import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import type { ReactElement } from 'react';
import { expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import LogView, { type LogViewProps } from './LogView';

interface Listed {
  data: unknown[];
  children: (item: unknown, index: number) => ReactElement;
  'aria-label': string;
}

// There is no layout: a list that draws what is in view would draw nothing.
vi.mock('virtua', () => ({
  VList: ({ data, children, 'aria-label': label }: Listed) => (
    <section aria-label={label}>{data.map(children)}</section>
  ),
}));

const text = 'start\n::group::Install\nfetch a\nfetch b\n::endgroup::\n##[group]Test\npassed\n##[endgroup]\ndone\n';

function show(at = '/', props: Partial<LogViewProps> = {}) {
  server.use(
    http.get('*/nodes/n/log', () => HttpResponse.text(text)),
    http.get('*/nodes/n/log\\:search', () => HttpResponse.json({ total: 1, lines: [4], searched: 9 })),
  );
  renderAt(at, '/', () => (
    <LogView step="train" source={{ runID: 'r', nodeID: 'n' }} onShow={() => undefined} {...props} />
  ));
}

/** The lines that are shown, each with its number. */
const seen = () => [...screen.getByRole('region', { name: 'Log of train' }).children].map((line) => line.textContent);

it('folds a group to its title and its count, and opens it by keyboard', async () => {
  show();
  await screen.findByText('9 lines · End of the log');
  expect(seen()).toEqual(['1start', '2Install2 lines', '6Test1 line', '9done']);
  const toggle = screen.getByRole('button', { name: 'Install 2 lines' });
  expect(toggle.getAttribute('aria-expanded')).toBe('false');
  toggle.focus();
  await userEvent.keyboard('{Enter}');
  expect(seen()).toEqual(['1start', '2Install2 lines', '3fetch a', '4fetch b', '6Test1 line', '9done']);
  expect(document.activeElement?.getAttribute('aria-expanded')).toBe('true');
  await userEvent.keyboard(' ');
  expect(seen()).toHaveLength(4);
});

it('opens a group in which a search finds something', async () => {
  show();
  await screen.findByText('9 lines · End of the log');
  await userEvent.type(screen.getByRole('textbox', { name: 'Search the log' }), 'fetch b');
  await waitFor(() => expect(seen()).toContain('4fetch b'));
  expect(seen()).not.toContain('7passed');
  // The reader may fold it all the same; to go to the match opens it again.
  await userEvent.click(screen.getByRole('button', { name: 'Install 2 lines' }));
  expect(seen()).not.toContain('4fetch b');
  await userEvent.type(screen.getByRole('textbox', { name: 'Search the log' }), '{Enter}');
  await waitFor(() => expect(screen.getByText('fetch b').closest('[data-current]')).toBeTruthy());
});

it('opens a group to which a link leads', async () => {
  show('/#L7');
  await waitFor(() => expect(screen.getByText('passed').closest('[data-linked]')).toBeTruthy());
  expect(seen()).toEqual(['1start', '2Install2 lines', '6Test1 line', '7passed', '9done']);
});

it('leaves the lines of other logs between those of a folded group', async () => {
  const log = (pod: string) => ({ log: { attempt: 1, pod, container: 'main' } });
  const lines = [
    log('a'),
    log('b'),
    { of: 0, n: 1, text: '::group::A' },
    { of: 1, n: 1, text: 'of b' },
    { of: 0, n: 2, text: 'of a' },
    { of: 0, n: 3, text: '::endgroup::' },
  ];
  server.use(
    http.get('*/nodes/n/log\\:merge', () =>
      HttpResponse.text(lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
    ),
  );
  const source = { runID: 'r', nodeID: 'n', merged: 'all' as const };
  show('/', { source, nameOf: (key) => key.split('/')[1] ?? '' });
  await screen.findByText('4 lines · End of the log');
  expect(seen()).toEqual(['1aA1 line', '1bof b']);
});
