/* Every page, in both themes and both languages: it passes axe (WCAG 2.2 AA), and its list can be filtered by URL. */
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';
import { picture, prefer, required } from './environment';

const failedOnly = encodeURIComponent('{"predicates":[{"op":"EQUALS","key":"status","string_value":"Failed"}]}');

interface Answer {
  runs?: { id: string; experiment: { id: string }; pipeline?: { id: string } }[];
}

async function pages(page: Page): Promise<Record<string, string>> {
  const id = required('RUN_ID');
  const run = await (await page.request.get(`/apis/argosy/v1/runs/${id}`)).json();
  const failed = await (await page.request.get(`/apis/argosy/v1/runs?page_size=1&filter=${failedOnly}`)).json();
  const failedRun: Record<string, string> = failed.runs?.[0] ? { failed: `/runs/${failed.runs[0].id}` } : {};
  return {
    ...failedRun,
    pipelines: '/pipelines',
    pipeline: `/pipelines/${run.pipeline.id}`,
    parameters: `/pipelines/${run.pipeline.id}?tab=parameters`,
    yaml: `/pipelines/${run.pipeline.id}?tab=yaml`,
    versions: `/pipelines/${run.pipeline.id}?tab=versions`,
    experiments: '/experiments',
    experiment: `/experiments/${run.experiment.id}`,
    runs: '/runs',
    'new-run': `/runs/new?pipeline=${run.pipeline.id}`,
    'run-again': `/runs/new?clone=${id}`,
    run: `/runs/${id}`,
    'run-steps': `/runs/${id}?tab=steps&panel=io`,
    'run-parameters': `/runs/${id}?tab=parameters&panel=details`,
    'run-yaml': `/runs/${id}?tab=yaml&node=none`,
    'no-match': '/runs?q=there-is-no-such-run',
    missing: '/runs/there-is-no-such-run',
    lost: '/there/is/no/such/page',
  };
}

for (const scheme of ['light', 'dark']) {
  test(`all pages pass axe, ${scheme}`, async ({ page }) => {
    await prefer(page, { scheme });
    const found: string[] = [];
    for (const [name, path] of Object.entries(await pages(page))) {
      await page.goto(path);
      await settled(page);
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
        .analyze();
      for (const { id, nodes } of violations) {
        found.push(
          `${name}: ${id}: ${nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary}`).join(' | ')}`,
        );
      }
      await picture(page, `${scheme}-${name}`);
    }
    expect(found).toEqual([]);
  });
}

test('Chinese is complete, and the page says that it is Chinese', async ({ page }) => {
  await prefer(page, { language: 'zh-CN' });
  for (const [name, path] of Object.entries(await pages(page))) {
    await page.goto(path);
    await settled(page);
    await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
    await expect(page.getByRole('link', { name: '流水线' }).first()).toBeVisible();
    await picture(page, `zh-${name}`);
  }
});

test('the theme and the language can be switched by keyboard, and stay', async ({ page }) => {
  await page.goto('/runs');
  await page.getByRole('radio', { name: 'Dark' }).focus();
  await page.keyboard.press('Space');
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await page.getByRole('radio', { name: '中文' }).focus();
  await page.keyboard.press('Space');
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await page.reload();
  await expect(page.getByRole('heading', { level: 1, name: '运行' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
});

test('lists are filtered and sorted by URL', async ({ page }) => {
  await prefer(page, {});
  const { runs = [] } = (await (await page.request.get('/apis/argosy/v1/runs')).json()) as Answer;
  await page.goto('/runs?status=Succeeded&sort=name&dir=asc&size=10');
  await settled(page);
  await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'ascending');
  await expect(page.locator('tbody tr').first()).toBeVisible();
  expect(runs.length).toBeGreaterThan(0);

  await page.getByRole('searchbox', { name: 'Filter by name' }).fill('there-is-no-such-run');
  await expect(page.getByRole('heading', { name: 'No match' })).toBeVisible();
  await expect(page).toHaveURL(/q=there-is-no-such-run/);
  await page.getByRole('button', { name: 'Clear the filters' }).last().click();
  await expect(page.locator('tbody tr').first()).toBeVisible();
});

test('a line of the log can be linked', async ({ page }) => {
  await prefer(page, {});
  const id = required('RUN_ID');
  await page.goto(`/runs/${id}?panel=log#L2`);
  await expect(page.locator('[data-linked]')).toContainText('2');
});

/** Waits until nothing on the page is awaited any more; answers may bring more questions, hence the quiet network. */
async function settled(page: Page) {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.waitForLoadState('networkidle');
  await expect(page.locator('.mantine-Skeleton-root')).toHaveCount(0);
}
