/** Error type of the workbench: every expected failure carries a code, a place and a remedy. */

/** Kinds of errors; `exitCodes` maps each to the exit status of the command line. */
export type ErrorCode = 'failure' | 'usage' | 'config' | 'data' | 'native' | 'stopped';

/** The exit status of the program, by kind of error. */
export const exitCodes: Readonly<Record<ErrorCode, number>> = {
  failure: 1,
  usage: 2,
  config: 2,
  data: 3,
  native: 4,
  stopped: 130,
};

/** Optional parts of an error. */
export interface ErrorDetails {
  hint?: string;
  cause?: unknown;
  /** True if all other items would fail alike: work over many items ends. Default false. */
  fatal?: boolean;
  /** True if thrown between two steps, with completed work worth saving. Default: true for code `stopped`. */
  resumable?: boolean;
}

/**
 * An expected failure. The message has the form "expected X, got Y, at Z"; the hint gives the remedy.
 * Anything else that is thrown is a bug and keeps its stack trace.
 */
export class WorkbenchError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly fatal: boolean;
  readonly resumable: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'WorkbenchError';
    this.code = code;
    this.hint = details.hint;
    this.fatal = details.fatal ?? false;
    this.resumable = details.resumable ?? code === 'stopped';
  }

  get exitCode(): number {
    return exitCodes[this.code];
  }
}

/** Errors of `fetch`, also aggregated ones. Recognised by shape: errors of other realms are no `Error` here. */
export type ErrorLike = { message?: string; code?: unknown; cause?: ErrorLike; errors?: ErrorLike[] };

/** System code of a failed connection, from any level of a `fetch` error. */
export function systemCode(error: unknown): string | undefined {
  for (let at = error as ErrorLike | undefined, depth = 0; at && depth < 6; depth++) {
    if (typeof at.code === 'string') return at.code;
    at = at.errors?.[0] ?? at.cause;
  }
  return undefined;
}

/** Reason of a failed `fetch`: the system's code, or its library's message. */
export function reasonOfFetch(error: unknown): string {
  const { message, cause } = error as ErrorLike;
  const code = systemCode(error);
  return code !== undefined && !code.startsWith('UND_') ? code : (cause?.message ?? message ?? String(error));
}
