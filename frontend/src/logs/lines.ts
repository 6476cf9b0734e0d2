import type { NodeLog } from '../api/runs';
import { type Group, Groups } from './groups';

/** Lines kept in memory; older ones are dropped, and the viewer says so. */
export const maxLines = 200_000;

/** So many of the last lines are read when a log is opened: reading a million takes a second. The server has the others. */
export const openingLines = 50_000;

/** What is held of a log, or of several as one. */
export interface Held {
  lines: string[];
  /** How many lines before the first of these were dropped to spare memory. */
  dropped: number;
  /** Of several logs: these, which of them each line is of, and the number of each line in its own log, from 1. */
  logs?: NodeLog[];
  of?: number[];
  numbers?: number[];
  /**
   * The groups of lines so far, and for each held line the place of its group among them, from 1: negative for the mark that ends it, and 0 in no
   * group. None before the first.
   */
  groups?: Group[];
  inGroup?: number[];
}

/** How many of the first lines are dropped: in big steps, as each one moves the whole array. */
export const excess = (count: number) => (count - maxLines > maxLines / 10 ? count - maxLines : 0);

/**
 * The lines of a growing text. The last line may still grow, so it counts as a line as soon as it has a character.
 * A lone carriage return starts the line anew, as a terminal would: progress bars show their last state only.
 */
export class Lines {
  private kept: string[] = [];
  private open = '';
  private readonly groups = new Groups();
  /** How many of the first lines were dropped, or left out by the server. */
  dropped: number;

  /** first is the number of the line that comes first. */
  constructor(first = 1) {
    this.dropped = first - 1;
  }

  append(text: string) {
    const parts = (this.open + text).split('\n');
    this.open = parts.pop() ?? '';
    for (const part of parts) {
      const line = lastState(part);
      const held = this.kept.push(line);
      this.groups.add(line, this.dropped + held, this.dropped + held, held);
    }
    const old = excess(this.kept.length);
    this.kept.splice(0, old);
    this.groups.drop(old);
    this.dropped += old;
  }

  /** A new array each time, so that a renderer sees the change. */
  held(): Held {
    const growing = this.open !== '';
    const lines = growing ? [...this.kept, lastState(this.open)] : this.kept.slice();
    return { lines, dropped: this.dropped, ...this.groups.held(growing) };
  }
}

/** What a terminal shows of a line that was written over. */
export function lastState(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf('\r') + 1);
}

// Everything between ESC and the end of a control sequence, as it takes no room on a terminal.
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are control characters
const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

/** A line without its terminal colours. */
export const plain = (line: string) => (line.includes('\u001b') ? line.replace(escapes, '') : line);
