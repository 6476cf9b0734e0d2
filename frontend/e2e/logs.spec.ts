/* The log of a whole run: ARGOSY_URL says where the server is; the runs are made here. */
import { type APIRequestContext, expect, test } from '@playwright/test';
import { passesAxe, picture, prefer } from './environment';

const step = (name: string, script: string) => ({ name, container: { image: 'host', command: ['sh', '-c', script] } });

/** Starts a run whose steps follow each other: load, then train, which goes on until it is stopped. */
async function start(request: APIRequestContext): Promise<string> {
  const manifest = JSON.stringify({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: { generateName: 'whole-' },
    spec: {
      entrypoint: 'main',
      templates: [
        {
          name: 'main',
          steps: [[{ name: 'load', template: 'load' }], [{ name: 'train', template: 'train' }]],
        },
        // Another script each time, so that no earlier run is taken from the cache.
        step('load', `: ${Date.now()}; echo loaded the data; echo and more`),
        step('train', 'i=0; while :; do i=$((i+1)); echo "epoch $i"; sleep 0.5; done'),
      ],
    },
  });
  const answer = await request.post('/apis/argosy/v1/runs', { data: { name: 'whole run', manifest } });
  expect(answer.ok(), await answer.text()).toBe(true);
  return (await answer.json()).run.id;
}

test('the log of a whole run has the lines of each step by time, while they come', async ({ page, request }) => {
  const id = await start(request);
  try {
    await prefer(page, {});
    await page.goto(`/runs/${id}`);
    await page.getByRole('tab', { name: 'Logs' }).click();
    await expect(page).toHaveURL(/tab=logs/);
    const log = page.getByRole('region', { name: 'Log of whole run' });
    // Each line begins with its number and its step.
    await expect(log).toContainText('1loadloaded the data2loadand more1trainepoch 12trainepoch 2');
    await expect(page.getByText(/Following the log$/)).toBeVisible();
    await page.getByRole('textbox', { name: 'Search the log' }).fill('EPOCH 2');
    await expect(page.getByRole('status').filter({ hasText: /of \d+/ })).toBeVisible();
    await page.getByRole('textbox', { name: 'Search the log' }).press('Enter');
    await expect(log.locator('[data-current]')).toContainText('epoch 2');
    await passesAxe(page);
    await picture(page, 'log-whole-run');

    await page.getByRole('combobox', { name: 'Whole run or a step' }).click();
    await expect(page.getByRole('option').first()).toHaveText('Whole run');
    await page.getByRole('option', { name: 'load' }).click();
    await expect(page).toHaveURL(/node=/);
    await expect(page.getByRole('region', { name: 'Log of load' })).toContainText('loaded the data');
    await expect(page.getByText('2 lines · End of the log')).toBeVisible();
    await page.getByRole('combobox', { name: 'Whole run or a step' }).click();
    await page.getByRole('option', { name: 'Whole run' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download the log' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('whole run.log');
  } finally {
    await request.post(`/apis/v1beta1/runs/${id}/terminate`);
  }
  // It ends with the run.
  await expect(page.getByText(/End of the log$/)).toBeVisible();
});

test('groups of lines fold, and a search opens those that it finds something in', async ({ page, request }) => {
  const script =
    'echo start; echo ::group::Install; seq 1 50; echo ::endgroup::; echo "##[group]Test"; echo passed; echo "##[endgroup]"; echo done';
  const manifest = JSON.stringify({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: { generateName: 'groups-' },
    spec: { entrypoint: 'main', templates: [step('main', script)] },
  });
  const answer = await request.post('/apis/argosy/v1/runs', { data: { name: 'groups', manifest } });
  expect(answer.ok(), await answer.text()).toBe(true);
  await prefer(page, {});
  await page.goto(`/runs/${(await answer.json()).run.id}?tab=logs`);
  await expect(page.getByText('57 lines · End of the log')).toBeVisible();
  const log = page.getByRole('region', { name: 'Log of groups' });
  const install = log.getByRole('button', { name: 'Install 50 lines' });
  await expect(install).toHaveAttribute('aria-expanded', 'false');
  await expect(log.getByText('50', { exact: true })).toHaveCount(0);
  await passesAxe(page);
  await picture(page, 'log-groups');
  await install.focus();
  await page.keyboard.press('Enter');
  await expect(install).toHaveAttribute('aria-expanded', 'true');
  await expect(log.getByText('1', { exact: true }).last()).toBeVisible();
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Search the log' }).fill('passed');
  await expect(log.locator('mark')).toHaveText('passed');
  await expect(install).toHaveAttribute('aria-expanded', 'false');
});
