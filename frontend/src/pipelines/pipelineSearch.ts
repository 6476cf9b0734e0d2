import type { RunsSearch } from '../api/runs';
import { many } from '../api/url';

/** What the page of a pipeline shows, as it stands in the URL; the rest of it is of the tab with the runs. */
export interface PipelineSearch extends RunsSearch {
  tab?: PipelineTab;
  /** A version other than the default. */
  version?: string;
  /** The chosen step of the graph. */
  step?: string;
  /** Versions that are chosen to be compared, by their ids. */
  compare?: string[];
}

export const pipelineTabs = ['graph', 'parameters', 'yaml', 'versions', 'runs'] as const;
export type PipelineTab = (typeof pipelineTabs)[number];

export function readPipelineSearch(raw: Record<string, unknown>): PipelineSearch {
  return {
    tab: pipelineTabs.find((tab) => tab === raw.tab),
    version: typeof raw.version === 'string' && raw.version ? raw.version : undefined,
    compare: many(raw.compare),
    step: typeof raw.step === 'string' && raw.step ? raw.step : undefined,
  };
}
