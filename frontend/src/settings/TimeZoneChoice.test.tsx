import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it } from 'vitest';
import { chooseTimeZone, timeZone } from '../format/zone';
import { renderAt } from '../test/render';
import { TimeZoneChoice } from './TimeZoneChoice';

afterEach(() => chooseTimeZone(undefined));

it('chooses UTC, a zone by its name, or the browser’s again', async () => {
  renderAt('/', '/', TimeZoneChoice);
  const field = await screen.findByRole<HTMLInputElement>('combobox', { name: 'Time zone' });
  expect(field.value).toMatch(/^As the browser: /);
  await userEvent.clear(field);
  await userEvent.type(field, 'Shanghai');
  await userEvent.click(await screen.findByRole('option', { name: 'Asia/Shanghai' }));
  expect(timeZone()).toBe('Asia/Shanghai');
  await userEvent.click(field);
  await userEvent.clear(field);
  await userEvent.click(await screen.findByRole('option', { name: /^As the browser: / }));
  expect(timeZone()).toBeUndefined();
});
