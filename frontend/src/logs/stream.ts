import { asProblem, type Problem, problemOf } from '../api/problem';
import { type Held, Lines } from './lines';

export interface LogState extends Held {
  /** waiting: no answer yet; open: more may come; ended: that was all; failed: see problem. */
  phase: 'waiting' | 'open' | 'ended' | 'failed';
  problem?: Problem;
}

// Redraws are bounded, as a chatty step may print thousands of lines a second.
const redrawEvery = 100;
// The number of the first line, where the server left out earlier ones.
const firstLine = 'Argosy-First-Line';
const firstRetry = 1_000;
const lastRetry = 10_000;

/** Makes lines of the text that comes. */
export interface Gatherer {
  append(text: string): void;
  held(): Held;
}

/** Follows one log, or a merge of several, and tells subscribers what it has; a store for useSyncExternalStore. */
export class LogStream {
  private state: LogState = { lines: [], dropped: 0, phase: 'waiting' };
  private readonly listeners = new Set<() => void>();
  private readonly url: string;
  private abort: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private wait = firstRetry;

  private readonly onIdle: () => void;
  private readonly gather: (first: number) => Gatherer;

  /** Nothing is read before the first subscriber comes; onIdle is called when the last one has gone. */
  constructor(
    url: string,
    onIdle: () => void = () => undefined,
    gather: (first: number) => Gatherer = (first) => new Lines(first),
  ) {
    this.url = url;
    this.onIdle = onIdle;
    this.gather = gather;
  }

  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.start();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.stop();
      this.onIdle();
    };
  };

  readonly snapshot = () => this.state;

  /** Asks again at once; for a reader who does not want to wait. */
  readonly restart = () => {
    this.stop();
    this.wait = firstRetry;
    this.start();
  };

  private start() {
    this.abort = new AbortController();
    void this.read(this.abort.signal);
  }

  private stop() {
    this.abort?.abort();
    clearTimeout(this.timer);
    clearTimeout(this.retry);
    this.timer = undefined;
  }

  private async read(signal: AbortSignal) {
    // Each read begins anew, so what an earlier read gave is replaced.
    let lines = this.gather(1);
    const decoder = new TextDecoder();
    const show = (phase: LogState['phase'], problem?: Problem) => this.set({ ...lines.held(), phase, problem });
    try {
      const response = await fetch(this.url, { signal });
      if (!response.ok) throw problemOf(response.status, response.statusText, await response.text());
      this.wait = firstRetry;
      const first = Number(response.headers.get(firstLine));
      if (first > 1) lines = this.gather(first);
      const reader = response.body?.getReader();
      for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
        lines.append(decoder.decode(chunk.value, { stream: true }));
        this.timer ??= setTimeout(() => {
          this.timer = undefined;
          show('open');
        }, redrawEvery);
      }
      lines.append(decoder.decode());
      this.finish(() => show('ended'));
    } catch (error) {
      if (signal.aborted) return;
      const problem = asProblem(error);
      this.finish(() =>
        lines.held().lines.length > 0 ? show('failed', problem) : this.set({ ...this.state, phase: 'failed', problem }),
      );
      if (problem.transient) {
        this.retry = setTimeout(() => void this.read(signal), this.wait);
        this.wait = Math.min(this.wait * 2, lastRetry);
      }
    }
  }

  private finish(show: () => void) {
    clearTimeout(this.timer);
    this.timer = undefined;
    show();
  }

  private set(state: LogState) {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}
