import createClient, { type Middleware } from 'openapi-fetch';
import { asProblem, problemOf } from './problem';
import type { components, paths } from './schema';

export type Schema = components['schemas'];

// proto3's JSON marks nothing as required; these are the fields that every answer has.
type Named<T> = T & { id: string; name: string };

export type Pipeline = Named<Schema['api.Pipeline']>;
export type PipelineVersion = Named<Schema['api.PipelineVersion']>;
export type Experiment = Named<Schema['api.Experiment']>;
export type Run = Named<Schema['argosy.v1.RunView']>;
export type RunNode = Named<Schema['argosy.v1.Node']>;
export type Metric = Schema['argosy.v1.Metric'] & { name: string; value: number };
export type Parameter = { name?: string; value?: string };
export type GraphNode = Named<Schema['argosy.v1.GraphNode']>;
export type Graph = Schema['argosy.v1.Graph'];
export type PipelineChange = Schema['argosy.v1.PipelineChange'];

/** One page of a list. */
export interface Page<T> {
  items: T[];
  total: number;
  /** Empty on the last page. */
  next: string;
}

const throwProblems: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw problemOf(response.status, response.statusText, await response.text());
  },
  onError({ error }) {
    return asProblem(error);
  },
};

/** The typed client of the whole API: it answers with data or throws a Problem. */
export const api = createClient<paths>({
  // An absolute base, because a request outside a browser (in tests) has no page to be relative to.
  baseUrl: globalThis.location?.origin ?? '',
  // Looked up at each call, so that a later replacement of fetch counts.
  fetch: (request) => globalThis.fetch(request),
});
api.use(throwProblems);

/** Takes the data out of an answer whose errors were thrown already. */
export async function data<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data: body } = await answer;
  return (body ?? {}) as T;
}

/** Sends a file, with the same errors as the client. */
export async function postFile<T>(path: string, query: Record<string, string>, file: File): Promise<T> {
  const form = new FormData();
  form.append('uploadfile', file, file.name);
  let response: Response;
  try {
    response = await fetch(`${path}?${new URLSearchParams(query)}`, { method: 'POST', body: form });
  } catch (error) {
    throw asProblem(error);
  }
  const body = await response.text();
  if (!response.ok) throw problemOf(response.status, response.statusText, body);
  return JSON.parse(body) as T;
}
