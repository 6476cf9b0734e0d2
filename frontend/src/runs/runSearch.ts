/** What the page of a run shows, as it stands in the URL. */
export interface RunSearch {
  tab?: RunTab;
  /** The chosen step; "none" when its panel was closed, absent when the page chooses. */
  node?: string;
  panel?: NodeTab;
}

export const runTabs = ['graph', 'steps', 'parameters', 'yaml'] as const;
export type RunTab = (typeof runTabs)[number];

export const nodeTabs = ['log', 'io', 'details'] as const;
export type NodeTab = (typeof nodeTabs)[number];

/** Stands for the closed panel. */
export const noNode = 'none';

export function readRunSearch(raw: Record<string, unknown>): RunSearch {
  return {
    tab: runTabs.find((tab) => tab === raw.tab),
    node: typeof raw.node === 'string' && raw.node ? raw.node : undefined,
    panel: nodeTabs.find((tab) => tab === raw.panel),
  };
}
