import type { components } from './schema';

/** An answer of the server that is not 2xx, or no answer at all, in the server's own words. */
export class Problem extends Error {
  /** HTTP status; 0 when the server could not be reached. */
  readonly status: number;
  /** The longer text that the server gave beside the message; empty when it adds nothing. */
  readonly details: string;
  /** Where an uploaded manifest is wrong, as far as the server knows. */
  readonly faults: Fault[];

  constructor(status: number, message: string, details = '', faults: Fault[] = []) {
    super(message);
    this.name = 'Problem';
    this.status = status;
    this.details = details === message ? '' : details;
    this.faults = faults;
  }

  /** Whether asking again may help: the server was away or failed, rather than refused. */
  get transient(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

export type Fault = components['schemas']['api.Error.Fault'];

interface ErrorBody {
  error?: string;
  message?: string;
  error_message?: string;
  error_details?: string;
  faults?: Fault[];
  details?: { error_message?: string; error_details?: string }[];
}

/** Reads both shapes of error that the API has: that of the RPCs, and that of uploads. Anything else is shown as it came. */
export function problemOf(status: number, statusText: string, body: string): Problem {
  let parsed: ErrorBody | undefined;
  try {
    parsed = JSON.parse(body) as ErrorBody;
  } catch {
    // Not JSON: a proxy's page or plain text, which is all there is to show.
  }
  if (!parsed || typeof parsed !== 'object') {
    return new Problem(status, body.trim() || `${status} ${statusText}`.trim());
  }
  const detail = parsed.details?.[0];
  const message = parsed.error_message ?? parsed.error ?? parsed.message ?? detail?.error_message;
  const details = parsed.error_details ?? detail?.error_details ?? '';
  return new Problem(status, message || `${status} ${statusText}`.trim(), details, parsed.faults);
}

/** Whatever was thrown, as a Problem; a failed fetch becomes one of status 0. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, error instanceof Error ? error.message : String(error));
}
