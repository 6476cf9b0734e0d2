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

/** A schedule names its version alone; the pipeline is that of the version. */
export function sourceOfSchedule(job: Job, pipelineID: string | undefined): Source {
  const reference = (type: string) => job.resource_references?.find(({ key }) => key?.type === type)?.key?.id;
  return {
    name: job.name,
    description: job.description ?? '',
    pipelineID,
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
