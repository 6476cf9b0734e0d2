/* A run that waits says for what, on its page and in the reader's language: ARGOSY_URL says where the server is. */
import AxeBuilder from '@axe-core/playwright';
import { type APIRequestContext, expect, test } from '@playwright/test';
import { passesAxe, picture, prefer } from './environment';

const manifest = JSON.stringify({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Workflow',
  metadata: { generateName: 'waits-' },
  spec: {
    entrypoint: 'main',
    templates: [
      {
        name: 'main',
        container: {
          image: 'host',
          command: ['true'],
          env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'newcomer-secret', key: 'token' } } }],
        },
      },
    ],
  },
});

async function startWaiting(request: APIRequestContext): Promise<string> {
  const answer = await request.post('/apis/argosy/v1/runs', { data: { name: 'waits for a secret', manifest } });
  expect(answer.ok(), await answer.text()).toBe(true);
  return (await answer.json()).run.id;
}

test('a run that waits for a secret says so in one sentence, in English and in Chinese', async ({
  page,
  context,
  request,
}) => {
  const id = await startWaiting(request);
  try {
    await prefer(page, {});
    await page.goto(`/runs/${id}`);
    await expect(page.getByRole('status', { name: 'Pending' })).toContainText(
      'waits: secret "newcomer-secret" not found: create it in namespace kubeflow, and the step goes on',
      { timeout: 300_000 },
    );
    await picture(page, 'run-waiting');
    await page.getByRole('status', { name: 'Pending' }).getByRole('button', { name: 'Why it waits' }).click();
    await expect(page).toHaveURL(/panel=waits/);
    await expect(page.getByRole('region', { name: 'Why it waits' })).toContainText('SECRET_MISSING');
    await picture(page, 'run-why-it-waits');
    await passesAxe(page);

    const chinese = await context.newPage();
    await prefer(chinese, { language: 'zh-CN' });
    await chinese.goto(`/runs/${id}`);
    const note = chinese.getByRole('status', { name: '等待中' });
    await expect(note).toContainText('找不到 secret "newcomer-secret"。请在命名空间 kubeflow 中创建它，步骤就会继续');
    await expect(note).not.toContainText('not found');
    await picture(chinese, 'run-waiting-zh');
    const faults = await new AxeBuilder({ page: chinese }).analyze();
    expect(faults.violations.map(({ id: rule, nodes }) => [rule, nodes.map(({ html }) => html)])).toEqual([]);
  } finally {
    await request.post(`/apis/v1beta1/runs/${id}/terminate`);
  }
});

test('the form says before the start what the cluster can never hold', async ({ page, request }) => {
  const never = JSON.parse(manifest);
  never.spec.arguments = { parameters: [{ name: 'cpu', value: '1' }] };
  never.spec.templates[0].container.env = [];
  never.spec.templates[0].podSpecPatch =
    '{"containers":[{"name":"main","resources":{"requests":{"cpu":"{{workflow.parameters.cpu}}"}}}]}';
  const name = `never fits ${Date.now()}`;
  const answer = await request.post(`/apis/v1beta1/pipelines/upload?name=${encodeURIComponent(name)}`, {
    multipart: {
      uploadfile: { name: 'never.yaml', mimeType: 'text/yaml', buffer: Buffer.from(JSON.stringify(never)) },
    },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
  await prefer(page, {});
  await page.goto(`/runs/new?pipeline=${(await answer.json()).id}`);
  await expect(page.getByText('The cluster can hold every step of this run.')).toBeVisible();
  const cpu = page.getByLabel('cpu', { exact: true });
  await cpu.fill('100000');
  await expect(page.getByRole('alert')).toContainText(/asks 100000 CPUs; this cluster has [\d.]+: lower cpu, or add/);
  await expect(page.getByRole('button', { name: 'Start' })).toBeDisabled();
  await picture(page, 'new-run-preflight');
  await cpu.fill('0.1');
  await expect(page.getByRole('button', { name: 'Start' })).toBeEnabled();
});
