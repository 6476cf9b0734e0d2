/** A page of ours with its search. */
export interface Target {
  to: string;
  search?: Record<string, string>;
}

/*
 * The addresses of KFP's interface, which its SDKs print and people keep: #/runs/details/ID, below / or below /pipeline/, in both of
 * its eras. They lead to the same things here.
 */
const targets: [RegExp, (found: RegExpExecArray, query: URLSearchParams) => Target][] = [
  [/^\/runs\/new/, (_, query) => newRun(query)],
  [/^\/runs\/details\/([^/]+)/, ([, id]) => ({ to: `/runs/${id}` })],
  [/^\/experiments\/details\/([^/]+)/, ([, id]) => ({ to: `/experiments/${id}` })],
  [/^\/experiments/, () => ({ to: '/experiments' })],
  [/^\/archive\/experiments/, () => ({ to: '/experiments', search: { archived: 'true' } })],
  [/^\/archive/, () => ({ to: '/runs', search: { archived: 'true' } })],
  [
    /^\/pipelines\/details\/([^/]+)\/version\/([^/]+)/,
    ([, id, version]) => ({ to: `/pipelines/${id}`, search: { version: version as string } }),
  ],
  [/^\/pipelines\/details\/([^/]+)/, ([, id]) => ({ to: `/pipelines/${id}` })],
  [/^\/(pipelines|pipeline_versions|shared)/, () => ({ to: '/pipelines' })],
  [/^\/recurringruns?\/details\/([^/]+)/, ([, id]) => ({ to: `/schedules/${id}` })],
  [/^\/recurringruns?/, () => ({ to: '/schedules' })],
  [/^\/compare/, (_, query) => ({ to: '/compare', search: { runlist: query.get('runlist') ?? '' } })],
  [/^\/(runs|artifacts|executions|start)/, () => ({ to: '/runs' })],
];

/** KFP's names for what a new run begins with. */
const newRunKeys: [string, string][] = [
  ['pipelineId', 'pipeline'],
  ['pipelineVersionId', 'version'],
  ['experimentId', 'experiment'],
  ['cloneFromRun', 'clone'],
  ['cloneFromRecurringRun', 'schedule'],
];

function newRun(query: URLSearchParams): Target {
  const search: Record<string, string> = {};
  for (const [theirs, ours] of newRunKeys) {
    const value = query.get(theirs);
    if (value) search[ours] = value;
  }
  if (query.has('recurring')) search.recurring = 'true';
  return { to: '/runs/new', search };
}

/** The page that a link of KFP's interface means, by its hash; undefined when it is not one. */
export function kfpTarget(hash: string): Target | undefined {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  for (const [pattern, target] of targets) {
    const found = pattern.exec(path);
    if (found) return target(found, new URLSearchParams(query));
  }
  return undefined;
}
