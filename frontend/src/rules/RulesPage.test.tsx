import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse, http } from 'msw';
import { expect, it, vi } from 'vitest';
import { renderAt } from '../test/render';
import { server } from '../test/server';
import { lastPart } from './cut';
import { RulesPage } from './RulesPage';

// The route of the test gives strings; the application's reads them.
vi.mock('@tanstack/react-router', async (original) => {
  const actual = await original<typeof import('@tanstack/react-router')>();
  const { many } = await import('../api/url');
  return {
    ...actual,
    getRouteApi: () => ({
      useSearch: () => ({ rule: many((actual.useSearch({ strict: false }) as Record<string, unknown>).rule) }),
      useNavigate: () => actual.useNavigate({ from: '/metrics/test' as never }),
    }),
  };
});

const found = {
  rule: 'loss:RAW:min',
  reduce: 'min',
  points: 2,
  ranks: 2,
  results: [{ reduce: 'last', value: 1 }, { reduce: 'min', value: 0.5 }, { reduce: 'sum' }],
  matches: [{ line: 1, rank: 0, text: 'loss=0.5', value: 0.5 }],
  misses: [{ line: 3, text: 'val_loss=9', miss: '"val_loss" is a longer name: it takes a rule of its own' }],
  more_matches: 1,
};

it('shows what each rule finds and nearly finds, and takes a suggestion', async () => {
  const asked = vi.fn();
  server.use(
    http.post('*/apis/argosy/v1/metrics\\:test', async ({ request }) => {
      const body = (await request.json()) as { rules: string[] };
      asked(body);
      return HttpResponse.json({
        reports: body.rules.map((rule) =>
          rule === 'x:y' ? { rule, refused: 'unknown format "y"' } : { ...found, rule },
        ),
        suggestions: [{ rule: 'images/sec', why: 'throughput', points: 3, value: 7 }],
      });
    }),
  );
  const router = renderAt('/metrics/test?rule=loss%3ARAW%3Amin&rule=x%3Ay', '/metrics/test', () => <RulesPage />);
  await userEvent.type(await screen.findByLabelText('Log'), 'loss=0.5');
  await userEvent.click(screen.getByRole('button', { name: 'Test' }));
  const report = await screen.findByRole('region', { name: 'Rule loss:RAW:min' });
  expect(asked).toHaveBeenCalledExactlyOnceWith({ log: 'loss=0.5', rules: ['loss:RAW:min', 'x:y'] });
  expect(within(report).getByText('2 numbers under the tags of 2 ranks')).toBeTruthy();
  expect(within(report).getByRole('row', { name: 'min 0.5 as the rule says' })).toBeTruthy();
  expect(within(report).getByRole('row', { name: 'sum —' })).toBeTruthy();
  expect(within(report).getByText('and 1 more')).toBeTruthy();
  const near = within(report).getByRole('region', { name: 'Near misses' });
  expect(within(near).getByText(/is a longer name/)).toBeTruthy();
  expect(screen.getByText('unknown format "y"')).toBeTruthy();

  await userEvent.click(screen.getByRole('button', { name: 'Use images/sec' }));
  expect(await screen.findByRole('region', { name: 'Rule images/sec' })).toBeTruthy();
  expect(router.state.location.search).toEqual({ rule: ['loss:RAW:min', 'x:y', 'images/sec'] });
});

it('sends the end of a long log, from the beginning of a line', () => {
  expect(lastPart('ab\ncd\nef', 5)).toBe('ef');
  expect(lastPart('ab\n', 5)).toBe('ab\n');
});
