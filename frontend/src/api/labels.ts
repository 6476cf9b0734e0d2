import { api, data, type Run } from './client';
import { asProblem } from './problem';

/** What becomes of labels by their names: a value, or null for one that is taken away. */
export type LabelEdits = Record<string, string | null>;

// What Kubernetes allows; the server has the same rules.
const part = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const domain = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export function isLabelName(name: string): boolean {
  const cut = name.indexOf('/');
  return part.test(name.slice(cut + 1)) && (cut < 0 || domain.test(name.slice(0, cut)));
}

export const isLabelValue = (value: string) => value === '' || part.test(value);

/** Changes labels of runs, one by one, and gives those where that failed. A run's other labels stay as they are at that moment. */
export async function editLabels(runs: Pick<Run, 'id' | 'name'>[], edits: LabelEdits) {
  const failed: { name: string; message: string }[] = [];
  for (const { id, name } of runs) {
    const path = { run_id: id };
    try {
      const run = await data(api.GET('/apis/argosy/v1/runs/{run_id}', { params: { path, query: { nodes: 'none' } } }));
      const labels = Object.fromEntries(
        Object.entries({ ...run.labels, ...edits }).filter((label): label is [string, string] => label[1] !== null),
      );
      await data(api.PUT('/apis/argosy/v1/runs/{run_id}/labels', { params: { path }, body: { labels } }));
    } catch (error) {
      failed.push({ name, message: asProblem(error).message });
    }
  }
  return failed;
}
