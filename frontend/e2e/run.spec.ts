/*
 * The main job as a reader sees it, on a real server:
 *   ARGOSY_URL           where the server is
 *   RUN_ID               a run that has succeeded; the run that is made here gets its parameters
 *   EXPECT_METRIC_NAME   a metric of that run (images/sec unless said) ...
 *   EXPECT_METRIC_VALUE  ... and the value that was measured
 *   PIPELINE_FILE        a package to upload; a run is made from it
 *   SCREENSHOTS          a folder for pictures (none when absent)
 */
import { expect, type Locator, test } from '@playwright/test';
import { passesAxe, picture, prefer, required } from './environment';

const metric = process.env.EXPECT_METRIC_NAME ?? 'images/sec';

test('the run page shows what was measured, the graph, the steps and the log', async ({ page }) => {
  const value = Number(required('EXPECT_METRIC_VALUE'));
  await prefer(page, {});
  await page.goto(`/runs/${required('RUN_ID')}`);

  const metrics = page.getByRole('region', { name: 'Metrics' });
  const row = metrics.getByRole('listitem').filter({ hasText: metric });
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
});

test('the YAML of a run is searched and folded, and typing does not change it', async ({ page }) => {
  await prefer(page, {});
  await page.goto(`/runs/${required('RUN_ID')}?tab=yaml&node=none`);
  const text = page.getByRole('textbox', { name: /\.yaml$/ });
  await expect(text).toContainText('kind: Workflow');
  await text.focus();
  await page.keyboard.press('Control+f');
  await expect(page.locator('.cm-search input[name="search"]')).toBeFocused();
  await page.keyboard.type('entrypoint');
  await expect(async () => {
    await page.keyboard.press('Enter');
    await expect(page.locator('.cm-searchMatch-selected')).toHaveText('entrypoint', { timeout: 2000 });
  }).toPass();
  await passesAxe(page);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Fold all', exact: true }).click();
  await expect(text).not.toContainText('entrypoint');
  await text.focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('typed');
  await expect(text).toContainText('kind: Workflow');
  await expect(text).not.toContainText('typed');
});

test('a large loop is one step of the graph, which opens by keyboard and stays open in the address', async ({
  page,
}) => {
  const templates = [
    { name: 'main', dag: { tasks: [{ name: 'fit', template: 'pause', withSequence: { count: '24' } }] } },
    { name: 'pause', suspend: { duration: '0' } },
  ];
  const manifest = JSON.stringify({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: { generateName: 'loop-' },
    spec: { entrypoint: 'main', templates },
  });
  const started = await page.request.post('/apis/argosy/v1/runs', { data: { name: `loop ${Date.now()}`, manifest } });
  const { run } = (await started.json()) as { run: { id: string } };
  const status = async () => (await (await page.request.get(`/apis/argosy/v1/runs/${run.id}`)).json()).status;
  await expect.poll(status, { timeout: 600_000 }).toBe('Succeeded');

  for (const scheme of ['light', 'dark']) {
    await prefer(page, { scheme });
    await page.goto(`/runs/${run.id}?node=none`);
    const graph = page.getByRole('region', { name: 'Graph of the steps' });
    const loop = graph.getByRole('button', { name: /^fit · 24/ });
    await expect(loop).toHaveAttribute('aria-expanded', 'false');
    await expect(loop).toContainText('loop of 24 passes, 24 Succeeded');
    await expect(graph.getByRole('button', { name: /^fit\(/ })).toHaveCount(0);
    await passesAxe(page);
    await loop.focus();
    await page.keyboard.press('Enter');
    await expect(loop).toHaveAttribute('aria-expanded', 'true');
    await expect(loop).toBeFocused();
    await expect(page).toHaveURL(/opened=/);
    await page.reload();
    await expect(graph.getByRole('button', { name: /^fit\(/ })).toHaveCount(24);
    await passesAxe(page);
    await picture(page, `${scheme}-group`);
    await page.getByRole('button', { name: 'Close all groups' }).click();
    await page.getByRole('searchbox', { name: 'Find a step' }).fill('fit(7');
    await expect(page.getByText('1 match is in a closed group.')).toBeVisible();
    await page.getByRole('button', { name: 'Open them' }).click();
    await expect(loop).toHaveAttribute('aria-expanded', 'true');
  }
});

test('the curves of a run are drawn from the series, and the address keeps how', async ({ page }) => {
  await prefer(page, {});
  await page.goto(`/runs/${required('RUN_ID')}`);
  await page.getByRole('tab', { name: 'Metrics' }).click();
  await expect(page).toHaveURL(/tab=metrics/);
  const chart = page.getByRole('region', { name: `Curves of ${metric}` });
  await expect(chart.locator('canvas')).toBeVisible();
  await expect(page.getByRole('row').filter({ hasText: metric }).locator('data')).toHaveAttribute(
    'value',
    required('EXPECT_METRIC_VALUE'),
  );

  await page.getByText('Seconds', { exact: true }).click();
  await expect(page).toHaveURL(/x=relative/);
  await page.getByLabel('Logarithmic', { exact: true }).click();
  await expect(page.getByLabel('Logarithmic', { exact: true })).toBeChecked();
  await page.getByRole('button', { name: `Show ${metric} on the full screen` }).click();
  await expect(page).toHaveURL(/open=/);
  await page.reload();
  const full = page.getByRole('dialog');
  await expect(full.locator('canvas')).toBeVisible();
  await expect(full.getByLabel('Logarithmic', { exact: true })).toBeChecked();
  await full.getByText('Show the numbers').click();
  await expect(full.getByRole('region', { name: `Numbers of ${metric}` }).getByRole('row')).not.toHaveCount(0);
  await picture(page, 'curves-full');
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/open=/);

  // Dragging over a chart shows that part of it, once the dialog no longer lies over it.
  await expect(full).toHaveCount(0);
  await chart.locator('.u-over').hover();
  const box = (await chart.locator('.u-over').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(box.x + box.width * 0.2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  await expect(page).toHaveURL(/zoom=/);
  await page.getByRole('button', { name: 'Whole range' }).click();
  await expect(page).not.toHaveURL(/zoom=/);
});

test('the logs of all pods are at hand, and a retry says what it would run', async ({ page }) => {
  await prefer(page, {});
  await page.goto(`/runs/${required('RUN_ID')}?tab=timeline`);
  await expect(page.getByRole('table', { name: 'When each step ran' }).getByRole('row')).not.toHaveCount(0);
  await page.getByRole('combobox', { name: 'Logs of this step' }).click();
  for (const name of ['worker 0', 'launcher 0']) {
    const option = page.getByRole('option', { name, exact: true });
    await option.click();
    await expect(option).toHaveAttribute('aria-selected', 'true');
  }
  await expect(page).toHaveURL(/logs=.*logs=/);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('region', { name: /^Log of / })).toContainText('launcher 0');
  await picture(page, 'logs-merged');

  await page.getByRole('button', { name: 'Retry from here' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('One step runs again.');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toHaveCount(0);
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
    await fill(parameters.getByLabel(parameter, { exact: true }), value);
  }
  await picture(page, 'new-run');
  await page.getByRole('button', { name: 'Start' }).click();

  await page.waitForURL(/\/runs\/(?!new)[^/]+$/);
  // A slow browser may come when the run is over; a page that came in time shows the end without being asked.
  await expect(page.locator(':is([data-status="Running"], [data-status="Succeeded"])').first()).toBeVisible({
    timeout: 300_000,
  });
  await expect(page.getByRole('region', { name: /^Log of / })).toContainText('images/sec', { timeout: 300_000 });
  await picture(page, 'run-live');
  await expect(page.locator('main [data-status="Succeeded"]').first()).toBeVisible({ timeout: 300_000 });
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

/** Gives a field a value, whatever kind of field the parameter's type has made of it. */
async function fill(field: Locator, value: string) {
  const kind = await field.evaluate((element) => (element as HTMLInputElement).type);
  if (kind === 'select-one') await field.selectOption(value);
  else if (kind === 'checkbox') await field.setChecked(/^true$/i.test(value), { force: true });
  else await field.fill(value);
}
