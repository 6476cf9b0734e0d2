import type { RunVisuals } from '../api/compare';
import type { Visual } from '../api/outputs';
import { csvRows } from '../outputs/csv';

const mostPoints = 10_000;
const mostRows = 200;

/** What steps of the same name left in several runs. */
export interface Merged {
  key: string;
  type: string;
  step: string;
  /** By run. */
  visuals: Map<string, Visual>;
}

/** Puts together what belongs together: the first ROC curve of a step with the first of that step in other runs, and so on. */
export function mergeVisuals(runs: RunVisuals[]): Merged[] {
  const merged = new Map<string, Merged>();
  for (const { run_id = '', visuals = [] } of runs) {
    const met = new Map<string, number>();
    for (const visual of visuals) {
      const { type = '', step_name: step = '' } = visual;
      if (visual.storage !== 'inline' || Number(visual.source_size ?? 0) > 0) continue;
      const name = `${type}/${step}`;
      const count = (met.get(name) ?? 0) + 1;
      met.set(name, count);
      const key = `${name}/${count}`;
      const held = merged.get(key) ?? { key, type, step, visuals: new Map() };
      held.visuals.set(run_id, visual);
      merged.set(key, held);
    }
  }
  return [...merged.values()];
}

/** The points of a ROC curve: false and true positive rate. */
export const rocPoints = (text: string) =>
  csvRows(text, mostPoints)
    .map(([x, y]) => ({ x: Number(x), y: Number(y) }))
    .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));

/** The area under a ROC curve, by trapezes. */
export function areaUnder(points: { x: number; y: number }[]): number {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  return sorted.slice(1).reduce((sum, { x, y }, i) => {
    const before = sorted[i] as { x: number; y: number };
    return sum + ((x - before.x) * (y + before.y)) / 2;
  }, 0);
}

/** Tables as one: rows with the same place stand below each other, each with its run; columns are those of all. */
export function mergeTables(visuals: Map<string, Visual>): {
  columns: string[];
  rows: { run: string; cells: string[] }[];
} {
  const tables = [...visuals].map(([run, { source = '', header = [] }]) => {
    const rows = csvRows(source, mostRows);
    return header.length > 0 ? { run, head: header, rows } : { run, head: rows[0] ?? [], rows: rows.slice(1) };
  });
  const columns = [...new Set(tables.flatMap(({ head }) => head))];
  const longest = Math.max(0, ...tables.map(({ rows }) => rows.length));
  const rows = Array.from({ length: longest }, (_, i) =>
    tables.flatMap(({ run, head, rows: own }) => {
      const row = own[i];
      return row ? [{ run, cells: columns.map((column) => row[head.indexOf(column)] ?? '') }] : [];
    }),
  ).flat();
  return { columns, rows };
}
