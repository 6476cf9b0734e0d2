/* The scaling report and the rule tester on a real server. */
import { expect, test } from '@playwright/test';
import { prefer, required } from './environment';

const metric = process.env.EXPECT_METRIC_NAME ?? 'images/sec';

test('chosen runs give a scaling report, whose address keeps every choice, and which can be saved', async ({
  page,
}) => {
  await prefer(page, {});
  const id = required('RUN_ID');
  const { runs = [] } = (await (await page.request.get('/apis/argosy/v1/runs?page_size=5')).json()) as {
    runs?: { id: string }[];
  };
  const other = runs.find((run) => run.id !== id);
  await page.goto(
    `/runs?${[id, other?.id]
      .filter(Boolean)
      .map((one) => `chosen=${one}`)
      .join('&')}`,
  );
  if (other) await page.getByRole('region', { name: 'Chosen runs' }).getByRole('link', { name: 'Scaling' }).click();
  else await page.goto(`/scaling?runs=${id}`);

  await expect(page.getByRole('heading', { level: 1, name: 'Scaling' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'What the runs have shown' })).toBeVisible();
  await expect(page.getByRole('region', { name: /^Cells: / })).toContainText(/\d/);
  await expect(page.getByText(/^argosy report .*--step /)).toContainText(id);
  await expect(page.getByRole('img', { name: new RegExp(`^${metric} over `) })).toBeVisible();

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the report as CSV' }).click();
  expect((await saved).suggestedFilename()).toBe('scaling.csv');

  await page.getByLabel('Price of a rank an hour').fill('3');
  await page.getByLabel('Currency and source of the price').fill('USD, list price');
  await expect(page).toHaveURL(/price=3/);
  await expect(page).toHaveURL(/source=USD/);
  await page.reload();
  await expect(page.getByRole('columnheader', { name: 'Cost an hour' })).toBeVisible();
});

test('rules are tried on a log that is pasted', async ({ page }) => {
  await prefer(page, {});
  await page.goto('/metrics/test');
  await page
    .getByLabel('Log', { exact: true })
    .fill('[1,0]<stdout>:total images/sec: 190.5\n[1,0]<stdout>:val_loss=2\n');
  await page.getByRole('button', { name: 'Test' }).click();
  await page.getByRole('button', { name: 'Use images/sec' }).click();
  await expect(page).toHaveURL(/rule=images/);
  await expect(page.getByRole('region', { name: 'Rule images/sec' })).toContainText('190.5');
});
