import type { Parameter } from '../api/client';
import { type NewRun, runBody } from '../api/runs';
import { type NewSchedule, scheduleBody } from '../api/schedules';
import type { Source } from './source';
import { draftTrigger } from './triggerDraft';

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
    flag('every', every(seconds));
    flag('start', start);
    flag('end', end);
    if (schedule.maxConcurrency > 1) flag('max-concurrency', String(schedule.maxConcurrency));
    if (!schedule.catchUp) words.push('--no-catchup');
  }
  for (const parameter of run.parameters) words.push('-p', shellWord(assignment(parameter)));
  return words.join(' ');
}

/** The command that changes a schedule as the form does: it names what differs. */
export function editLine(before: Source, after: NewSchedule, names: CommandNames): string {
  const words = ['argosy', 'schedule', 'edit', shellWord(before.name)];
  const flag = (name: string, old: string | undefined, value: string | undefined) => {
    if ((value ?? '') !== (old ?? '')) words.push(`--${name}`, shellWord(value ?? ''));
  };
  flag('name', before.name, after.name);
  flag('description', before.description, after.description);
  if (after.versionID !== before.versionID) words.push('--version', shellWord(names.version ?? after.versionID));
  if (after.experimentID !== before.experimentID) words.push('--experiment', shellWord(names.experiment ?? ''));
  const { cron, seconds, start, end } = after.trigger;
  const old = draftTrigger(before.trigger);
  if (cron) flag('cron', old?.cron, cron);
  else flag('every', every(old?.seconds), every(seconds));
  flag('start', old?.start, start);
  flag('end', old?.end, end);
  flag('max-concurrency', String(before.trigger.maxConcurrency), String(after.maxConcurrency));
  if (after.catchUp !== before.trigger.catchUp) words.push(after.catchUp ? '--no-catchup=false' : '--no-catchup');
  for (const parameter of after.parameters) words.push('-p', shellWord(assignment(parameter)));
  return words.join(' ');
}

const every = (seconds: number | undefined) => (seconds === undefined ? undefined : `${seconds}s`);

const assignment = ({ name, value }: Parameter) => `${name}=${value ?? ''}`;

/** The request that does the same as the form; changing is the schedule that it changes. */
export function curl(origin: string, run: NewRun, schedule?: NewSchedule, changing?: string): string {
  const made = schedule ? '/apis/v1beta1/jobs' : '/apis/v1beta1/runs';
  const path = changing ? `/apis/argosy/v1/schedules/${changing}` : made;
  const body = JSON.stringify(schedule ? scheduleBody(schedule) : runBody(run), undefined, 2);
  return `curl -X ${changing ? 'PUT' : 'POST'} ${shellWord(origin + path)} -H 'Content-Type: application/json' -d ${shellWord(body)}`;
}
