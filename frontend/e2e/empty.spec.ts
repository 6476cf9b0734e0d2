/* The first minute on a server on which nothing has run: ARGOSY_URL says where it is. */
import { expect, test } from '@playwright/test';
import { passesAxe, picture, prefer } from './environment';

test('an empty home starts a sample with one click, and its run succeeds', async ({ page, context }) => {
  const asked = { en: 'Start mpi_run', 'zh-CN': '启动 mpi_run' };
  for (const [language, button] of Object.entries(asked)) {
    for (const scheme of ['light', 'dark']) {
      for (const width of [360, 1280]) {
        const reader = await context.newPage();
        await prefer(reader, { language, scheme });
        await reader.setViewportSize({ width, height: 900 });
        await reader.goto('/');
        await expect(reader.getByRole('button', { name: button })).toBeVisible();
        expect(await reader.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        await passesAxe(reader);
        await picture(reader, `home-empty-${language}-${scheme}-${width}`);
        await reader.close();
      }
    }
  }

  await prefer(page, {});
  await page.goto('/');
  await page.getByRole('button', { name: 'Start mpi_run' }).click();
  await expect(page).toHaveURL(/\/runs\/[0-9a-f-]{36}/);
  const id = new URL(page.url()).pathname.split('/').pop();
  const status = async () => (await (await page.request.get(`/apis/argosy/v1/runs/${id}`)).json()).status;
  await expect.poll(status, { timeout: 600_000 }).toMatch(/Succeeded|Failed|Error/);
  expect(await status()).toBe('Succeeded');
  await expect(page.locator('[data-status="Succeeded"]').first()).toBeVisible();
  const metric = page.getByRole('region', { name: 'Metrics' }).locator('data[data-metric="images/sec"]');
  expect(Number(await metric.getAttribute('value'))).toBeGreaterThan(0);

  await page.goto('/');
  await expect(page.getByRole('region', { name: /^Running now/ })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start mpi_run' })).toHaveCount(0);
});
