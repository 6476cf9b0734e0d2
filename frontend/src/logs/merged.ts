import type { LogState, LogStream } from './stream';

export interface MergedState extends LogState {
  /** Which log each line is of; absent when there is one log only. */
  of?: number[];
  /** The number of each line in its own log, from 1. */
  numbers?: number[];
}

/** Several logs, each line with its time in front, as one in the order of time. It follows all of them. */
export class MergedLog {
  private readonly streams: LogStream[];
  private parts: LogState[] = [];
  private state: MergedState | undefined;

  constructor(streams: LogStream[]) {
    this.streams = streams;
  }

  readonly subscribe = (listener: () => void) => {
    const stops = this.streams.map((stream) => stream.subscribe(listener));
    return () => {
      for (const stop of stops) stop();
    };
  };

  readonly snapshot = (): MergedState => {
    const parts = this.streams.map((stream) => stream.snapshot());
    if (!this.state || parts.some((part, i) => part !== this.parts[i])) {
      this.parts = parts;
      this.state = merge(parts);
    }
    return this.state;
  };

  readonly restart = () => {
    for (const stream of this.streams) stream.restart();
  };
}

/** Puts the lines of logs in the order of their times; a line without one stays behind the line before it. */
export function merge(parts: LogState[]): MergedState {
  const all: { at: string; text: string; of: number; number: number }[] = [];
  parts.forEach((part, of) => {
    let at = '';
    part.lines.forEach((line, i) => {
      const [time, text] = timed(line);
      at = time ?? at;
      all.push({ at, text, of, number: part.dropped + i + 1 });
    });
  });
  all.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const problem = parts.find((part) => part.problem)?.problem;
  return {
    lines: all.map((line) => line.text),
    of: all.map((line) => line.of),
    numbers: all.map((line) => line.number),
    dropped: parts.reduce((sum, part) => sum + part.dropped, 0),
    phase: problem ? 'failed' : phaseOf(parts),
    problem,
  };
}

function phaseOf(parts: LogState[]): LogState['phase'] {
  if (parts.every((part) => part.phase === 'ended')) return 'ended';
  return parts.every((part) => part.phase === 'waiting') ? 'waiting' : 'open';
}

const stamp = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z ?/;

/** The time in front of a line, in a form that sorts, and the rest of the line. */
function timed(line: string): [string | undefined, string] {
  const found = stamp.exec(line);
  if (!found) return [undefined, line];
  return [`${found[1]}.${(found[2] ?? '').padEnd(9, '0')}`, line.slice(found[0].length)];
}
