import type { RunsSearch } from '../api/runs';
import { many } from '../api/url';
import { type GraphSearch, readGraphSearch, text } from '../graph/graphSearch';

/** What the page of a pipeline shows, as it stands in the URL; what is searched is of the tab with the graph or the runs. */
export interface PipelineSearch extends RunsSearch, GraphSearch {
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
    ...readGraphSearch(raw),
    tab: pipelineTabs.find((tab) => tab === raw.tab),
    version: text(raw.version),
    compare: many(raw.compare),
    step: text(raw.step),
  };
}
