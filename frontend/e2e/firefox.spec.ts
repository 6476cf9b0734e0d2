/*
 * The main walk in Firefox: upload, form, live run, curve, log, YAML, comparison, language and theme, without an error on the way.
 * Chromium looks more closely at each of them. run.spec.ts says what the variables are; RUN_PARAMETERS holds those of the new run.
 */
import { expect } from '@playwright/test';
import { required } from './environment';
import { chooseFile, control, drawn, fill, says, test } from './firefox';

const metric = process.env.EXPECT_METRIC_NAME ?? 'images/sec';

test('the main walk, from a package to the comparison of its run', async ({ tab, baseURL }) => {
  const name = `firefox ${Date.now()}`;
  const read = async (run: string) => (await fetch(`${baseURL}/apis/argosy/v1/runs/${run}`)).json();

  await test.step('upload a package', async () => {
    await tab.goto(`${baseURL}/pipelines`);
    await control(tab, 'button', 'Upload pipeline').click();
    await chooseFile(tab, '[role=dialog] input[type=file]', required('PIPELINE_FILE'));
    await fill(tab, 'Pipeline name', name);
    await control(tab, 'button', 'Upload').click();
    await says(tab, 'h1', name);
    await says(tab, '[aria-label="Graph of the steps"] button', 'MPIJob');
  });

  await test.step('create a run with the form', async () => {
    await control(tab, 'link', 'Create run').click();
    await says(tab, 'h1', 'Create run');
    await fill(tab, 'Run name', name);
    for (const [parameter, value] of Object.entries<string>(JSON.parse(required('RUN_PARAMETERS')))) {
      await fill(tab, parameter, value);
    }
    await says(tab, 'form', 'The cluster can hold every step of this run.');
    await control(tab, 'button', 'Start').click();
    await says(tab, 'h1', name);
    await expect.poll(() => tab.url()).toMatch(/\/runs\/(?!new)[^/]+$/);
  });
  const id = new URL(tab.url()).pathname.split('/').pop() ?? '';

  await test.step('follow it live to its end', async () => {
    await says(tab, '[role=region][aria-label^="Log of "]', metric, 300_000);
    await tab.waitForSelector('main [data-status="Succeeded"]', { timeout: 300_000 });
    const { status, metrics } = await read(id);
    expect(status).toBe('Succeeded');
    const shown = await tab.waitForSelector(`[aria-label="Metrics"] data[data-metric="${metric}"]`);
    const value = Number(await shown?.evaluate((element) => element.getAttribute('value')));
    expect(value).toBeGreaterThan(0);
    expect(metrics).toContainEqual(expect.objectContaining({ name: metric, value }));
  });

  await test.step('see its curve', async () => {
    await control(tab, 'tab', 'Metrics').click();
    await expect.poll(() => drawn(tab, `[aria-label="Curves of ${metric}"] canvas`)).toBe(true);
  });

  await test.step('search the log of the distributed step', async () => {
    await control(tab, 'tab', 'Graph').click();
    await control(tab, 'button', 'Close the step').click();
    // The graph takes the room of the panel, so that a click may miss the step.
    await expect(async () => {
      await tab.locator('[aria-label="Graph of the steps"] button[data-phase="Succeeded"]').click();
      await tab.waitForSelector('button[aria-pressed=true]', { timeout: 2000 });
    }).toPass();
    await fill(tab, 'Search the log', `total ${metric}`);
    await says(tab, '[role=status]', /– of [1-9]/);
    await tab.keyboard.press('Enter');
    await says(tab, '[role=status]', /1 of [1-9]/);
    await says(tab, '[role=region][aria-label^="Log of "] [data-current] mark', `total ${metric}`);
  });

  await test.step('read its YAML', async () => {
    await control(tab, 'tab', 'YAML').click();
    await says(tab, '[role=textbox][aria-label$=".yaml"]', 'kind: Workflow');
  });

  await test.step('compare it with the run before it', async () => {
    const earlier = await read(required('RUN_ID'));
    await control(tab, 'link', 'Runs').click();
    for (const run of [{ id, name }, earlier]) {
      await fill(tab, 'Search runs', run.id);
      await expect.poll(() => tab.$$eval('tbody tr', (rows) => rows.length)).toBe(1);
      await control(tab, 'checkbox', `Choose ${run.name}`).click();
    }
    await control(tab, 'link', 'Compare').click();
    const table = '[aria-label="Metrics and parameters of the runs"]';
    await says(tab, `${table} thead`, name);
    await says(tab, `${table} thead`, earlier.name);
    await says(tab, `${table} tbody th`, metric);
  });

  await test.step('read it in Chinese, and in the dark', async () => {
    await control(tab, 'radio', '中文 Chinese').click();
    await tab.waitForSelector('html[lang="zh-CN"]');
    await says(tab, 'h1', '比较运行');
    await control(tab, 'radio', '深色').click();
    await tab.waitForSelector('html[data-mantine-color-scheme="dark"]');
    await tab.reload();
    await says(tab, 'h1', '比较运行');
    await tab.waitForSelector('html[data-mantine-color-scheme="dark"]');
  });
});
