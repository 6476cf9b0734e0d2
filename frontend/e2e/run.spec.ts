/*
 * The main job as a reader sees it, on a real server:
 *   ARGOSY_URL           where the server is
 *   RUN_ID               a run that has succeeded; the run that is made here gets its parameters
 *   EXPECT_METRIC_NAME   a metric of that run (images/sec unless said) ...
 *   EXPECT_METRIC_VALUE  ... and the value that was measured
 *   PIPELINE_FILE        a package to upload; a run is made from it
 *   SCREENSHOTS          a folder for pictures (none when absent)
 */
import { expect, test } from '@playwright/test';
import { picture, prefer, required } from './environment';

const metric = process.env.EXPECT_METRIC_NAME ?? 'images/sec';

test('the run page shows what was measured, the graph, the steps and the log', async ({ page }) => {
  const value = Number(required('EXPECT_METRIC_VALUE'));
  await prefer(page, {});
  await page.goto(`/runs/${required('RUN_ID')}`);

  const metrics = page.getByRole('region', { name: 'Metrics' });
  const row = metrics.getByRole('row').filter({ hasText: metric });
  await expect(row).toBeVisible();
  const cell = row.locator(`data[data-metric="${metric}"]`);
  expect(Number(await cell.getAttribute('value'))).toBeCloseTo(value, 6);
  await expect(cell).toHaveText(new Intl.NumberFormat('en', { maximumFractionDigits: 3 }).format(value));

  await expect(page.locator('[data-status="Succeeded"]').first()).toBeVisible();
  const step = page.getByRole('region', { name: 'Graph of the steps' }).getByRole('button', { name: /Succeeded/ });
  await step.first().click();
  const log = page.getByRole('region', { name: /^Log of / });
  await expect(log).toContainText('images/sec');
  await picture(page, 'run');

  await page.getByRole('tab', { name: 'Steps' }).click();
  await expect(page.getByRole('table', { name: 'Steps of the run' }).getByRole('row')).not.toHaveCount(0);
  await page.getByRole('tab', { name: 'YAML' }).click();
  await expect(page.getByRole('region', { name: /\.yaml$/ })).toContainText('entrypoint: ');
});

test('a package is uploaded, a run is made from it with the form, and succeeds before our eyes', async ({ page }) => {
  const name = `uploaded ${Date.now()}`;
  await prefer(page, {});
  await page.goto('/pipelines');
  await page.getByRole('button', { name: 'Upload pipeline' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('input[type=file]').setInputFiles(required('PIPELINE_FILE'));
  await dialog.getByLabel('Pipeline name').fill(name);
  await picture(page, 'upload');
  await dialog.getByRole('button', { name: 'Upload', exact: true }).click();

  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  await expect(
    page.getByRole('region', { name: 'Graph of the steps' }).getByRole('button', { name: /MPIJob/ }),
  ).toBeVisible();
  await picture(page, 'pipeline');
  await page.getByRole('link', { name: 'Create run' }).click();

  await expect(page.getByLabel('Run name')).toHaveValue(new RegExp(name));
  const earlier = await (await page.request.get(`/apis/argosy/v1/runs/${required('RUN_ID')}`)).json();
  const parameters = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Parameters' }) });
  for (const { name: parameter, value = '' } of earlier.parameters as { name: string; value?: string }[]) {
    await parameters.getByLabel(parameter, { exact: true }).fill(value);
  }
  await picture(page, 'new-run');
  await page.getByRole('button', { name: 'Start' }).click();

  await page.waitForURL(/\/runs\/(?!new)[^/]+$/);
  await expect(page.locator('[data-status="Running"]').first()).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole('region', { name: /^Log of / })).toContainText('images/sec', { timeout: 120_000 });
  await picture(page, 'run-live');
  await expect(page.locator('main [data-status="Succeeded"]').first()).toBeVisible({ timeout: 150_000 });
  await expect(page.getByRole('region', { name: 'Metrics' })).toContainText(metric);
});

test('a file may be dropped on the page, and what is no pipeline is refused in the words of the server', async ({
  page,
}) => {
  await prefer(page, {});
  await page.goto('/pipelines');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  // Dropped anywhere on the page, as a file manager would.
  const files = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['these are only notes'], 'notes.tar.gz', { type: 'application/gzip' }));
    return transfer;
  });
  await page.dispatchEvent('h1', 'dragenter', { dataTransfer: files });
  await expect(page.getByText('Drop the package to upload it')).toBeVisible();
  await page.dispatchEvent('h1', 'drop', { dataTransfer: files });
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByLabel('Pipeline name')).toHaveValue('notes');
  const answer = page.waitForResponse((response) => response.url().includes('/pipelines/upload'));
  await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
  const { error_message: words } = (await (await answer).json()) as { error_message: string };
  expect(words).not.toBe('');
  await expect(dialog.getByRole('alert')).toContainText(words);
  await picture(page, 'refused');
});
