import { many } from '../api/url';
import { type GraphSearch, readGraphSearch, text } from '../graph/graphSearch';
import { type Axis, readAxis } from '../metrics/axis';

/** What the page of a run shows, as it stands in the URL. */
export interface RunSearch extends GraphSearch {
  tab?: RunTab;
  /** The chosen step; "none" when its panel was closed, absent when the page chooses. */
  node?: string;
  panel?: NodeTab;
  /** Steps: the phases to keep. */
  phase?: string[];
  /** Graph: drawn also where a table is faster. */
  draw?: true;
  /** Metrics: part of the name, the axis, which ranks, smoothing from 0 to 0.99, and "log" for logarithmic scales of y and of x. */
  metric?: string;
  x?: Axis;
  /** "each", "mean", or ranks such as 0,3; absent when the page chooses. */
  ranks?: string;
  smooth?: number;
  scale?: 'log';
  xscale?: 'log';
  /** The part of the x-axis that is shown: FROM~TO. */
  zoom?: string;
  /** Timeline: the part that is shown, FROM~TO, in seconds since its start. */
  during?: string;
  /** The metric whose chart fills the screen. */
  open?: string;
  /** The artifact that is shown: NODE/NAME. */
  artifact?: string;
  /** Job: the object whose YAML is shown: KIND/NAME. */
  object?: string;
  /** Events: only warnings. */
  only?: 'warnings';
  /** The logs that are shown, as logKey names them; the step's own when absent. */
  logs?: string[];
  /** What is searched for in the log, and whether its long lines are wrapped. */
  find?: string;
  wrap?: 'off';
  /** Several logs beside each other instead of merged. */
  side?: 'on';
}

/** Changes some of what the URL says. */
export type ShowPatch = (patch: RunSearch) => void;

export const runTabs = [
  'graph',
  'timeline',
  'steps',
  'logs',
  'metrics',
  'outputs',
  'job',
  'events',
  'parameters',
  'yaml',
] as const;
export type RunTab = (typeof runTabs)[number];

export const nodeTabs = ['waits', 'log', 'io', 'details'] as const;
export type NodeTab = (typeof nodeTabs)[number];

/** Stands for the closed panel. */
export const noNode = 'none';

export function readRunSearch(raw: Record<string, unknown>): RunSearch {
  const smooth = Number(raw.smooth);
  return {
    ...readGraphSearch(raw),
    tab: runTabs.find((tab) => tab === raw.tab),
    node: text(raw.node),
    panel: nodeTabs.find((tab) => tab === raw.panel),
    phase: many(raw.phase),
    draw: raw.draw === true || raw.draw === 'true' ? true : undefined,
    metric: text(raw.metric),
    x: readAxis(raw.x),
    ranks: /^(each|mean|-?\d+(,-?\d+)*)$/.test(String(raw.ranks)) ? text(raw.ranks) : undefined,
    smooth: smooth > 0 && smooth < 1 ? smooth : undefined,
    scale: raw.scale === 'log' ? 'log' : undefined,
    xscale: raw.xscale === 'log' ? 'log' : undefined,
    zoom: readZoom(text(raw.zoom)) ? text(raw.zoom) : undefined,
    during: readZoom(text(raw.during)) ? text(raw.during) : undefined,
    open: text(raw.open),
    artifact: text(raw.artifact),
    object: text(raw.object),
    only: raw.only === 'warnings' ? 'warnings' : undefined,
    logs: many(raw.logs),
    find: text(raw.find),
    wrap: raw.wrap === 'off' ? 'off' : undefined,
    side: raw.side === 'on' ? 'on' : undefined,
  };
}

/** The ends of FROM~TO; undefined when that is no range. */
export function readZoom(zoom: string | undefined): [number, number] | undefined {
  const ends = (zoom ?? '').split('~');
  const [from, to] = ends.map((end) => (end.trim() === '' ? Number.NaN : Number(end)));
  return ends.length === 2 && from !== undefined && to !== undefined && from < to ? [from, to] : undefined;
}
