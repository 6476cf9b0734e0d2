import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/** A variable that the tests cannot do without. */
export function required(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(
      `${name} is not set. The browser tests need ARGOSY_URL, RUN_ID, PIPELINE_FILE and EXPECT_METRIC_VALUE.`,
    );
  return value;
}

const folder = process.env.SCREENSHOTS ? resolve(process.env.SCREENSHOTS) : undefined;

/** Keeps a picture of the page under SCREENSHOTS; none when that is not set. */
export async function picture(page: Page, name: string) {
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' });
}

/** Chooses the theme and the language as a reader who comes back has them. */
export async function prefer(
  page: Page,
  { scheme = 'light', language = 'en' }: { scheme?: string; language?: string },
) {
  await page.addInitScript(
    ([chosenScheme, chosenLanguage]) => {
      localStorage.setItem('argosy-color-scheme', chosenScheme as string);
      localStorage.setItem('argosy-language', chosenLanguage as string);
    },
    [scheme, language],
  );
}

/** Checks that axe finds nothing on a page as it is now (WCAG 2.2 AA). */
export async function passesAxe(page: Page) {
  const { violations } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)).toEqual(
    [],
  );
}
