import type { Parameter } from '../api/client';
import { type NewRun, runBody } from '../api/runs';
import { type NewSchedule, scheduleBody } from '../api/schedules';

/** What a run or schedule is called by people who type its command. */
export interface CommandNames {
  pipeline: string;
  /** Absent for the default version. */
  version?: string;
  experiment?: string;
}

// What a shell takes as it is.
const plain = /^[\w@%+=:,./-]+$/;

/** A word as a POSIX shell reads it. */
export const shellWord = (text: string) => (plain.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** The command that does the same as the form. */
export function commandLine(run: NewRun, names: CommandNames, schedule?: NewSchedule): string {
  const words = ['argosy', schedule ? 'schedule' : 'run', 'create'];
  const flag = (name: string, value: string | undefined) => value && words.push(`--${name}`, shellWord(value));
  flag('pipeline', names.pipeline);
  flag('version', names.version);
  flag('name', run.name);
  flag('description', run.description);
  flag('experiment', names.experiment);
  if (schedule) {
    const { cron, seconds, start, end } = schedule.trigger;
    flag('cron', cron);
    flag('every', seconds === undefined ? undefined : `${seconds}s`);
    flag('start', start);
    flag('end', end);
    if (schedule.maxConcurrency > 1) flag('max-concurrency', String(schedule.maxConcurrency));
    if (!schedule.catchUp) words.push('--no-catchup');
  }
  for (const parameter of run.parameters) words.push('-p', shellWord(assignment(parameter)));
  return words.join(' ');
}

const assignment = ({ name, value }: Parameter) => `${name}=${value ?? ''}`;

/** The request that does the same as the form. */
export function curl(origin: string, run: NewRun, schedule?: NewSchedule): string {
  const path = schedule ? '/apis/v1beta1/jobs' : '/apis/v1beta1/runs';
  const body = JSON.stringify(schedule ? scheduleBody(schedule) : runBody(run), undefined, 2);
  return `curl -X POST ${shellWord(origin + path)} -H 'Content-Type: application/json' -d ${shellWord(body)}`;
}
