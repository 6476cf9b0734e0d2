import { queryOptions } from '@tanstack/react-query';
import { api, data, type Schema } from './client';

export type RuleReport = Schema['argosy.v1.RuleReport'];
export type RuleLine = Schema['argosy.v1.RuleLine'];
export type SuggestedRule = Schema['argosy.v1.SuggestedRule'];
export type Trial = Schema['argosy.v1.TestRulesResponse'];

/** A log and the rules to try on it. */
export interface TrialInput {
  log: string;
  rules: string[];
}

/** Tries rules on a log, with the parser that runs use. */
export const trialQuery = (input: TrialInput | undefined) =>
  queryOptions({
    queryKey: ['trial', input],
    enabled: input !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ signal }): Promise<Trial> =>
      data(api.POST('/apis/argosy/v1/metrics:test', { body: input as TrialInput, signal })),
  });
