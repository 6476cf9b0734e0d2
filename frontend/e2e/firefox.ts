/*
 * Debian's Firefox, driven by Puppeteer over WebDriver BiDi, and Playwright's runner reports. Playwright itself drives Firefoxes that
 * it has built. Its channel for others, moz-firefox, is not documented, and asks for commands that this Firefox lacks.
 */
import { mkdirSync } from 'node:fs';
import { test as base, expect } from '@playwright/test';
import puppeteer, { type ElementHandle, type Page } from 'puppeteer-core';

/** A page in a new profile of Firefox. A test fails when the page logs an error, throws, or asks for what it does not get. */
export const test = base.extend<{ tab: Page }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads which fixtures this one needs from the pattern
  tab: async ({}, use, info) => {
    const home = info.outputPath('home');
    mkdirSync(home, { recursive: true });
    const browser = await puppeteer.launch({
      browser: 'firefox',
      executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
      defaultViewport: info.project.use.viewport ?? null,
      // Both only guard against hanging, as those of the configuration.
      timeout: 300_000,
      protocolTimeout: 300_000,
      // As root it starts only with a home of root's; the caller's may be another's, as in containers.
      env: { ...process.env, HOME: home, TZ: info.project.use.timezoneId },
      extraPrefsFirefox: { 'intl.accept_languages': info.project.use.locale, 'ui.prefersReducedMotion': 1 },
    });
    try {
      const tab = await browser.newPage();
      tab.setDefaultTimeout(120_000);
      const faults = watch(tab);
      await use(tab);
      if (info.errors.length > 0) await tab.screenshot({ path: info.outputPath('failed.png') });
      expect(faults, 'errors and failed requests on the way').toEqual([]);
    } finally {
      await browser.close();
    }
  },
});

/** Collects what goes wrong on a page. Requests that the page itself gives up, as when it is left, are no fault. */
function watch(tab: Page): string[] {
  const faults: string[] = [];
  tab.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  tab.on('pageerror', (error) => faults.push(`thrown: ${error}`));
  tab.on('response', (answer) => {
    if (answer.status() >= 400) faults.push(`${answer.status()}: ${answer.url()}`);
  });
  tab.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? '';
    if (!/ABORT/.test(why)) faults.push(`${why}: ${request.url()}`);
  });
  return faults;
}

/** What has this role and exactly this name. It is waited for, and scrolled into view. */
export function control(tab: Page, role: string, name: string) {
  return tab.locator(`::-p-aria([name="${name}"][role="${role}"])`);
}

/** Waits until an element that matches the selector has this text. */
export async function says(tab: Page, selector: string, text: string | RegExp, timeout?: number) {
  const texts = () => tab.$$eval(selector, (all) => all.map((one) => (one as HTMLElement).innerText).join('\n'));
  await expect.poll(texts, { message: selector, timeout }).toMatch(text);
}

/** Replaces what is in the field with this label by keyboard, or chooses the option of a list. */
export async function fill(tab: Page, name: string, value: string) {
  const found = await tab.waitForFunction(
    (label) => {
      const fields = document.querySelectorAll<HTMLInputElement | HTMLSelectElement>('input, textarea, select');
      return [...fields].find(
        ({ ariaLabel, labels }) =>
          ariaLabel === label || [...(labels ?? [])].some(({ innerText }) => innerText.replace(/ \*$/, '') === label),
      );
    },
    {},
    name,
  );
  const field = found.asElement() as ElementHandle<HTMLInputElement | HTMLSelectElement>;
  if (await field.evaluate((element) => element instanceof HTMLSelectElement)) {
    await field.select(value);
  } else {
    await field.focus();
    await tab.keyboard.down('Control');
    await tab.keyboard.press('a');
    await tab.keyboard.up('Control');
    await tab.keyboard.press('Backspace');
    await field.type(value);
  }
  await expect.poll(() => field.evaluate((element) => element.value)).toBe(value);
}

/** Gives a field a file, also one that the page hides behind a button. */
export async function chooseFile(tab: Page, selector: string, path: string) {
  const field = (await tab.waitForSelector(selector)) as ElementHandle<HTMLInputElement>;
  await field.uploadFile(path);
}

/** Says whether anything is drawn on a canvas. */
export function drawn(tab: Page, selector: string): Promise<boolean> {
  return tab.$$eval(selector, (all) =>
    (all as HTMLCanvasElement[]).some(
      (canvas) =>
        canvas.width > 0 &&
        canvas
          .getContext('2d')
          ?.getImageData(0, 0, canvas.width, canvas.height)
          .data.some((byte) => byte > 0),
    ),
  );
}
