import type { Parameter, Run } from '../api/client';
import type { Job } from '../api/schedules';
import { triggerOf } from '../schedules/trigger';
import { newTrigger, type TriggerDraft, triggerDraft } from './triggerDraft';

/** What a new run takes its first values from. */
export interface Source {
  name: string;
  description: string;
  pipelineID?: string;
  versionID?: string;
  experimentID?: string;
  parameters: Parameter[];
  trigger: TriggerDraft;
  /** That of a schedule. */
  serviceAccount?: string;
  /** What a schedule's manifest declares, where its version is deleted. */
  declared?: Parameter[];
}

export const sourceOfRun = (run: Run): Source => ({
  name: run.name,
  description: run.description ?? '',
  pipelineID: run.pipeline?.id,
  versionID: run.pipeline?.version_id,
  experimentID: run.experiment?.id,
  parameters: run.parameters ?? [],
  trigger: newTrigger,
});

/** A schedule, which keeps its manifest when its version is deleted. */
export function sourceOfSchedule(job: Job, versionGone: boolean): Source {
  const reference = (type: string) => job.resource_references?.find(({ key }) => key?.type === type)?.key?.id;
  return {
    name: job.name,
    description: job.description ?? '',
    pipelineID: job.pipeline_spec?.pipeline_id || undefined,
    declared: versionGone ? declaredIn(job.pipeline_spec?.workflow_manifest) : undefined,
    versionID: reference('PIPELINE_VERSION'),
    experimentID: reference('EXPERIMENT'),
    parameters: job.pipeline_spec?.parameters ?? [],
    serviceAccount: job.service_account || undefined,
    trigger: {
      ...triggerDraft(triggerOf(job)),
      maxConcurrency: Number(job.max_concurrency ?? 1),
      catchUp: !job.no_catchup,
    },
  };
}

interface Manifest {
  spec?: { arguments?: { parameters?: Parameter[] } };
}

/** The parameters of a manifest, which the server gives as JSON. */
const declaredIn = (manifest: string | undefined): Parameter[] =>
  (JSON.parse(manifest || '{}') as Manifest).spec?.arguments?.parameters ?? [];
