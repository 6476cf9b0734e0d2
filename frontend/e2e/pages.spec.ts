/* Every page, in both themes and both languages, from 360 to 2560 px: it passes axe (WCAG 2.2 AA), and its list can be filtered by URL. */
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page, test } from '@playwright/test';
import { passesAxe, picture, prefer, required } from './environment';

const failedOnly = encodeURIComponent('{"predicates":[{"op":"EQUALS","key":"status","string_value":"Failed"}]}');

interface Answer {
  runs?: { id: string; experiment: { id: string }; pipeline?: { id: string } }[];
}

const small = `apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: small-}
spec:
  entrypoint: main
  templates:
    - {name: main, container: {image: alpine, command: [echo, small]}}
`;

/** A version that does something else than the pipeline of the runs. */
async function anotherVersion(page: Page): Promise<string> {
  const multipart = { uploadfile: { name: 'small.yaml', mimeType: 'text/yaml', buffer: Buffer.from(small) } };
  await page.request.post('/apis/v1beta1/pipelines/upload?name=small', { multipart }); // refused where it is there already
  const named = encodeURIComponent('{"predicates":[{"op":"EQUALS","key":"name","string_value":"small"}]}');
  const { pipelines } = await (await page.request.get(`/apis/v1beta1/pipelines?filter=${named}`)).json();
  return pipelines[0].default_version.id;
}

async function pages(page: Page): Promise<Record<string, string>> {
  const id = required('RUN_ID');
  const run = await (await page.request.get(`/apis/argosy/v1/runs/${id}`)).json();
  const failed = await (await page.request.get(`/apis/argosy/v1/runs?page_size=1&filter=${failedOnly}`)).json();
  const failedRun: Record<string, string> = failed.runs?.[0] ? { failed: `/runs/${failed.runs[0].id}` } : {};
  const { jobs = [] } = await (await page.request.get('/apis/v1beta1/jobs?page_size=1')).json();
  const schedule: Record<string, string> = jobs[0] ? { schedule: `/schedules/${jobs[0].id}` } : {};
  const { runs = [] } = (await (await page.request.get('/apis/argosy/v1/runs?page_size=2')).json()) as Answer;
  const chosen = runs.map((one) => one.id);
  const version = run.pipeline.version_id;
  const diff = `/diff?from=${version}&to=${await anotherVersion(page)}`;
  return {
    ...failedRun,
    ...schedule,
    home: '/',
    schedules: '/schedules',
    'new-schedule': `/runs/new?pipeline=${run.pipeline.id}&recurring=true`,
    chosen: `/runs?${chosen.map((one) => `chosen=${one}`).join('&')}`,
    archive: '/runs?archived=true',
    'archived-experiments': '/experiments?archived=true',
    'deleted-experiments': '/experiments?deleted=true',
    compare: `/compare?runs=${[id, ...chosen.filter((one) => one !== id)].join('&runs=')}`,
    'compare-turned': `/compare?runs=${[id, ...chosen.filter((one) => one !== id)].join('&runs=')}&rows=runs`,
    scaling: `/scaling?runs=${[id, ...chosen.filter((one) => one !== id)].join('&runs=')}`,
    'scaling-choose': '/scaling',
    rules: '/metrics/test?rule=loss',
    diff,
    'diff-graph': `${diff}&diff=graph`,
    'diff-yaml': `${diff}&diff=yaml`,
    'diff-none': `/diff?from=${version}&to=${version}`,
    settings: '/settings',
    components: '/components',
    pipelines: '/pipelines',
    pipeline: `/pipelines/${run.pipeline.id}`,
    parameters: `/pipelines/${run.pipeline.id}?tab=parameters`,
    yaml: `/pipelines/${run.pipeline.id}?tab=yaml`,
    versions: `/pipelines/${run.pipeline.id}?tab=versions`,
    'pipeline-runs': `/pipelines/${run.pipeline.id}?tab=runs`,
    experiments: '/experiments',
    experiment: `/experiments/${run.experiment.id}`,
    runs: '/runs',
    'new-run': `/runs/new?pipeline=${run.pipeline.id}`,
    'run-again': `/runs/new?clone=${id}`,
    run: `/runs/${id}`,
    'run-steps': `/runs/${id}?tab=steps&panel=io`,
    'run-parameters': `/runs/${id}?tab=parameters&panel=details`,
    'run-yaml': `/runs/${id}?tab=yaml&node=none`,
    'run-metrics': `/runs/${id}?tab=metrics&smooth=0.5`,
    'run-metrics-full': `/runs/${id}?tab=metrics&open=${encodeURIComponent(run.metrics?.[0]?.name ?? '')}`,
    'run-timeline': `/runs/${id}?tab=timeline`,
    'run-outputs': `/runs/${id}?tab=outputs`,
    'run-job': `/runs/${id}?tab=job`,
    'run-events': `/runs/${id}?tab=events`,
    cluster: '/cluster',
    'no-match': '/runs?q=there-is-no-such-run',
    missing: '/runs/there-is-no-such-run',
    lost: '/there/is/no/such/page',
  };
}

const looks = [
  { name: 'light', width: 1440, scheme: 'light', language: 'en' },
  { name: 'dark', width: 1440, scheme: 'dark', language: 'en' },
  { name: 'wide', width: 2560, scheme: 'light', language: 'en' },
  { name: 'zh-narrow', width: 360, scheme: 'light', language: 'zh-CN' },
] as const;

for (const { name: look, width, scheme, language } of looks) {
  test(`all pages pass axe and fit: ${look}`, async ({ page }) => {
    await prefer(page, { scheme, language });
    await page.setViewportSize({ width, height: 900 });
    const found: string[] = [];
    for (const [name, path] of Object.entries(await pages(page))) {
      await page.goto(path);
      await settled(page);
      await expect(page.locator('html')).toHaveAttribute('lang', language);
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
        .analyze();
      for (const { id, nodes } of violations) {
        found.push(
          `${name}: ${id}: ${nodes.map((node) => `${node.target.join(' ')}: ${node.failureSummary}`).join(' | ')}`,
        );
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) found.push(`${name}: ${wide} px wide`);
      for (const head of await brokenHeads(page)) found.push(`${name}: the head “${head}” is broken within a word`);
      await picture(page, `${look}-${name}`);
    }
    expect(found).toEqual([]);
  });
}

/** The heads of columns that have more lines than words. */
const brokenHeads = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('thead th, thead th *')].flatMap((part) =>
      [...part.childNodes].flatMap((node) => {
        const text = node.nodeType === Node.TEXT_NODE ? (node.textContent ?? '').trim() : '';
        const range = document.createRange();
        range.selectNodeContents(node);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
        const words = text.split(/[^\p{L}\p{N}]+/u).filter(Boolean).length;
        return text && lines > Math.max(1, words) ? [text] : [];
      }),
    ),
  );

test('two versions that differ are shown row by row', async ({ page }) => {
  await page.goto((await pages(page)).diff as string);
  await expect(page.getByRole('region', { name: 'Differences' }).getByRole('row').nth(1)).toBeVisible();
});

test('a package that is refused is shown with its lines', async ({ page }) => {
  await page.goto('/pipelines');
  await page.getByRole('button', { name: 'Upload pipeline' }).first().click();
  await page.getByLabel('Package').setInputFiles({
    name: 'wrong.yaml',
    mimeType: 'text/yaml',
    buffer: Buffer.from(small.replace('entrypoint: main', 'entrypoint: main\n  parallelism: many')),
  });
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  const faults = page.getByRole('list', { name: 'Where it is wrong' });
  await expect(faults).toContainText('Line 6, column 16');
  await expect(faults).toContainText('parallelism: many');
  await passesAxe(page);
});

test('the theme and the language can be switched by keyboard, and stay', async ({ page }) => {
  await page.goto('/runs');
  await settled(page);
  await page.getByRole('radio', { name: 'Dark' }).focus();
  await page.keyboard.press('Space');
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await page.getByRole('radio', { name: '中文 Chinese' }).focus();
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

  await page.getByPlaceholder(/^status:failed/).fill('there-is-no-such-run');
  await expect(page.getByRole('heading', { name: 'No match' })).toBeVisible();
  await expect(page).toHaveURL(/q=there-is-no-such-run/);
  await page.getByRole('button', { name: 'Clear the filters' }).last().click();
  await expect(page.locator('tbody tr').first()).toBeVisible();
});

test('the list of runs loads the shell alone, and its controls when they are pressed', async ({ page }) => {
  await prefer(page, {});
  await page.goto('/runs');
  await settled(page);
  // The build fails when these are above the budget (bench/budget.ts).
  const scripts = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .map(({ name }) => /([a-z-]+)(-[\w-]{8})?\.js$/.exec(name)?.[1])
      .filter((name) => name !== undefined),
  );
  expect(scripts.sort()).toEqual(['preferences', 'rolldown-runtime', 'shell']);

  await page.getByRole('button', { name: 'Filter by status' }).click();
  await page.getByRole('option', { name: 'Succeeded' }).click();
  await expect(page).toHaveURL(/status=Succeeded/);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Columns' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menu')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Columns' })).toBeFocused();
  await page.getByRole('combobox', { name: 'Search runs' }).fill('status:succ');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('combobox', { name: 'Search runs' })).toHaveValue(/^status:succeeded /i);
});

test('a line of the log can be linked', async ({ page }) => {
  await prefer(page, {});
  const id = required('RUN_ID');
  await page.goto(`/runs/${id}?panel=log#L2`);
  await expect(page.locator('[data-linked]')).toContainText('2');
});

test('addresses of KFP lead to the same things, with and without /pipeline/', async ({ page }) => {
  await prefer(page, {});
  const id = required('RUN_ID');
  for (const [address, path, heading] of [
    ['/pipeline/#/experiments', '/experiments', 'Experiments'],
    ['/#/experiments', '/experiments', 'Experiments'],
    ['/_/pipeline/#/pipelines', '/pipelines', 'Pipelines'],
    ['/pipeline/#/recurringruns', '/schedules', 'Schedules'],
    ['/pipeline/#/archive/runs', '/runs?archived=true', 'Runs'],
    [`/pipeline/#/runs/details/${id}`, `/runs/${id}`, undefined],
  ] as const) {
    await page.goto('about:blank');
    await page.goto(address);
    await expect(page).toHaveURL(new RegExp(`${path.replace('?', '\\?')}$`));
    await expect(page.getByRole('heading', { level: 1, name: heading })).toBeVisible();
  }
});

test('any run is reached by the keyboard alone, and no page is wider than a phone', async ({ page }) => {
  await prefer(page, {});
  const id = required('RUN_ID');
  const { name } = await (await page.request.get(`/apis/argosy/v1/runs/${id}`)).json();
  await page.goto('/');
  await settled(page);
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('combobox', { name: 'Go to a page, run or pipeline, or do something' })).toBeFocused();
  await page.keyboard.type(name);
  // Enter takes the first, which may still be another until all answers are there.
  await expect(page.getByRole('option', { name, selected: true })).toBeVisible();
  await picture(page, 'palette');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();

  await page.setViewportSize({ width: 360, height: 800 });
  for (const path of ['/', '/runs', '/schedules', '/pipelines', '/experiments', '/settings', '/runs/new', '/diff']) {
    await page.goto(path);
    await settled(page);
    await expect
      .poll(() => page.evaluate(() => document.documentElement.scrollWidth), { message: path })
      .toBeLessThanOrEqual(360);
  }
});

test('a schedule is made with the form, paused, changed, and deleted', async ({ page }) => {
  await prefer(page, {});
  const run = await (await page.request.get(`/apis/argosy/v1/runs/${required('RUN_ID')}`)).json();
  const name = `nightly ${Date.now()}`;
  await page.goto(`/runs/new?clone=${run.id}&recurring=true`);
  await page.getByLabel('Schedule name').fill(name);
  await page.getByText('Cron expression', { exact: true }).click();
  await page.getByLabel('Expression, in UTC').fill('0 3 1 1 *');
  await expect(page.getByRole('region', { name: 'Next times' }).getByRole('listitem')).toHaveCount(5);
  await page.getByRole('button', { name: 'Start the schedule' }).click();
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();

  await page.getByRole('button', { name: `Pause: ${name}` }).click();
  await expect(page.getByRole('button', { name: `Enable: ${name}` })).toBeVisible();
  await picture(page, 'schedule-made');
  const address = page.url();
  await page.getByRole('button', { name: `Actions: ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Change…' }).click();
  await expect(page.getByLabel('Schedule name')).toHaveValue(name);
  await page.getByLabel('Expression, in UTC').fill('0 4 1 1 *');
  await page.getByRole('button', { name: 'Save the schedule' }).click();
  await expect(page).toHaveURL(address);
  await expect(page.getByText('0 4 1 1 *')).toBeVisible();
  await expect(page.getByRole('button', { name: `Enable: ${name}` })).toBeVisible();
  await page.getByRole('button', { name: `Actions: ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Schedules' })).toBeVisible();
  await expect(page.getByRole('link', { name })).toHaveCount(0);
});

test('chosen runs are archived, found in the archive, and restored', async ({ page }) => {
  await prefer(page, {});
  const id = required('RUN_ID');
  const { name } = await (await page.request.get(`/apis/argosy/v1/runs/${id}`)).json();
  const box = page.getByRole('checkbox', { name: `Choose ${name}`, exact: true });
  for (const [list, action] of [
    ['/runs', 'Archive'],
    ['/runs?archived=true', 'Restore'],
  ] as const) {
    await page.goto(`${list}${list.includes('?') ? '&' : '?'}q=${id}`);
    await box.click();
    await expect(box).toBeChecked();
    await page.getByRole('region', { name: 'Chosen runs' }).getByRole('button', { name: action }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `${action}: 1` })
      .click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(box).toHaveCount(0);
  }
});

/** A loop over two steps, a branch, a step that runs once per item, and what leads to them and follows them. */
function grouped(): string {
  const pause = (name: string, rest: object = {}) => ({ name, template: 'pause', ...rest });
  const good = '{{workflow.parameters.side}} == heads';
  const tasks = [
    pause('read'),
    { name: 'each', template: 'pass', dependencies: ['read'], withItems: ['a', 'b'] },
    { name: 'good', template: 'publish', dependencies: ['each'], when: good },
    pause('report', { dependencies: ['good'] }),
    pause('aside', { dependencies: ['read'], withSequence: { count: '2' } }),
  ];
  const templates = [
    { name: 'main', dag: { tasks } },
    { name: 'pass', dag: { tasks: [pause('fit'), pause('test', { dependencies: ['fit'] })] } },
    { name: 'publish', dag: { tasks: [pause('send')] } },
    { name: 'pause', suspend: { duration: '0' } },
  ];
  const args = { parameters: [{ name: 'side', value: 'heads' }] };
  return JSON.stringify({
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Workflow',
    metadata: { generateName: 'grouped-' },
    spec: { entrypoint: 'main', arguments: args, templates },
  });
}

test('groups of a pipeline open and close by keyboard, paths are found, and the address keeps both', async ({
  page,
}) => {
  const file = { name: 'grouped.yaml', mimeType: 'application/yaml', buffer: Buffer.from(grouped()) };
  const path = `/apis/v1beta1/pipelines/upload?name=grouped${Date.now()}`;
  const { id } = await (await page.request.post(path, { multipart: { uploadfile: file } })).json();
  const graph = page.getByRole('region', { name: 'Graph of the steps' });
  const card = (name: string) => graph.getByRole('button', { name: new RegExp(`^${name}\\b`) });
  for (const scheme of ['light', 'dark']) {
    await prefer(page, { scheme });
    await page.goto(`/pipelines/${id}`);
    const loop = card('each');
    await expect(loop).toHaveAttribute('aria-expanded', 'true');
    await expect(loop).toContainText('loop over 2 steps');
    await expect(card('good')).toContainText('branch of 1 step, only when {{workflow.parameters.side}} == heads');
    await expect(card('aside')).toContainText('once per item');
    await passesAxe(page);
    await picture(page, `${scheme}-pipeline-groups`);

    await loop.focus();
    await page.keyboard.press('Enter');
    await expect(loop).toHaveAttribute('aria-expanded', 'false');
    await expect(loop).toBeFocused();
    await expect(card('fit')).toHaveCount(0);
    await expect(page).toHaveURL(/closed=each/);
    await page.getByRole('searchbox', { name: 'Find a step' }).fill('+test');
    await expect(page.getByText('2 matches are in closed groups.')).toBeVisible();
    await expect(card('report')).toHaveAttribute('data-faint');
    await expect(card('read')).not.toHaveAttribute('data-faint');
    await passesAxe(page);
    await picture(page, `${scheme}-pipeline-closed`);

    await page.reload();
    await expect(loop).toHaveAttribute('aria-expanded', 'false');
    await expect(page.getByRole('searchbox', { name: 'Find a step' })).toHaveValue('+test');
    await page.getByRole('button', { name: 'Open them' }).click();
    await expect(card('test')).not.toHaveAttribute('data-faint');
    await expect(card('send')).toHaveAttribute('data-faint');

    await card('send').click();
    const panel = page.getByRole('region', { name: /send/ });
    await expect(panel).toContainText('{{workflow.parameters.side}} == heads');
    await passesAxe(page);
    await picture(page, `${scheme}-pipeline-step`);
    await panel.getByRole('button', { name: 'good' }).click();
    await expect(page).toHaveURL(/step=good/);
  }
  await page.setViewportSize({ width: 360, height: 800 });
  await prefer(page, { language: 'zh-CN' });
  await page.goto(`/pipelines/${id}?q=fit%2B&step=each%2Ffit`);
  await settled(page);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await picture(page, 'zh-phone-pipeline-groups');
});

test('a path in the graph of a run leaves what leads to a step, or follows it, and the rest is faint', async ({
  page,
}) => {
  await prefer(page, {});
  const data = { name: `grouped ${Date.now()}`, manifest: grouped() };
  const { run } = await (await page.request.post('/apis/argosy/v1/runs', { data })).json();
  const status = async () => (await (await page.request.get(`/apis/argosy/v1/runs/${run.id}`)).json()).status;
  await expect.poll(status, { timeout: 600_000 }).toBe('Succeeded');
  await page.goto(`/runs/${run.id}?node=none`);
  const cards = page.getByRole('region', { name: 'Graph of the steps' }).locator('button[data-phase]');
  const names = async (which: string) => {
    const titles = cards.and(page.locator(which)).locator('[title]:first-child');
    const found = await titles.evaluateAll((all) => all.map((one) => one.getAttribute('title') ?? ''));
    return found.map((title) => title.replace(/ · .*/, '')).sort();
  };
  const find = page.getByRole('searchbox', { name: 'Find a step' });
  const all = ['read', 'each', 'good', 'send', 'report', 'aside', 'aside(0:0)', 'aside(1:1)'];
  const passes = ['each(0:a)', 'fit(0:a)', 'test(0:a)', 'each(1:b)', 'fit(1:b)', 'test(1:b)'];
  for (const [path, found] of [
    ['send+', ['send', 'report']],
    ['+fit(0:a)', ['read', 'each', 'each(0:a)', 'fit(0:a)']],
    ['1+report', ['send', 'report']],
  ] as const) {
    await find.fill(path);
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(path);
    const clear = [...found].sort();
    await expect.poll(() => names(':not([data-faint])'), { message: path }).toEqual(clear);
    const rest = [...all, ...passes].filter((name) => !clear.includes(name as never)).sort();
    expect(await names('[data-faint]'), path).toEqual(rest);
    await passesAxe(page);
  }
  await picture(page, 'run-path');
});

/** Waits until nothing on the page is awaited any more: no skeletons, and no dots in place of an answer. */
async function settled(page: Page) {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(page.locator('.mantine-Skeleton-root:not([data-example] *)')).toHaveCount(0);
  await expect(page.getByText('…', { exact: true })).toHaveCount(0);
}
