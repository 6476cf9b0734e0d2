import { lineKey, type Place } from '../api/logs';
import type { NodeLog } from '../api/runs';
import { Groups } from './groups';
import { excess, type Held, lastState } from './lines';

/** The lines of several logs as the server merges them: each is an object, and a log is named before its first line. */
export class MergedLines {
  private rest = '';
  private readonly logs: NodeLog[] = [];
  private readonly lines: string[] = [];
  private readonly of: number[] = [];
  private readonly numbers: number[] = [];
  private dropped = 0;
  private readonly groups = new Groups();

  append(text: string) {
    const parts = (this.rest + text).split('\n');
    this.rest = parts.pop() ?? '';
    for (const part of parts) this.take(JSON.parse(part));
    const old = excess(this.lines.length);
    for (const list of [this.lines, this.of, this.numbers]) list.splice(0, old);
    this.groups.drop(old);
    this.dropped += old;
  }

  private take({ log, of = 0, n = 0, text = '' }: { log?: NodeLog; of?: number; n?: number; text?: string }) {
    if (log) {
      this.logs.push(log);
      return;
    }
    const line = lastState(text);
    const held = this.lines.push(line);
    this.of.push(of);
    this.numbers.push(n);
    this.groups.add(line, n, this.dropped + held, held, of);
  }

  /** New arrays each time, so that a renderer sees the change. */
  held(): Held {
    const { logs, lines, of, numbers, dropped } = this;
    const groups = this.groups.held();
    return { logs: logs.slice(), lines: lines.slice(), of: of.slice(), numbers: numbers.slice(), dropped, ...groups };
  }
}

/** Stands for the place of a line that is not held any more. */
export const gone = -1;

/** Where a line of one of several logs stands among all, from 1; undefined when it has not come yet. */
export function numberOf({ logs = [], of = [], numbers = [], dropped }: Held, { log, line }: Place) {
  const which = logs.findIndex((each) => lineKey(each) === log);
  let later = false;
  for (let i = 0; which >= 0 && i < of.length; i++) {
    if (of[i] !== which) continue;
    if (numbers[i] === line) return dropped + i + 1;
    later ||= (numbers[i] as number) > line;
  }
  return later ? gone : undefined;
}
