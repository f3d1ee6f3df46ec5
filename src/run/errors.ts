/** The one error tree of the workbench: every expected failure carries a code, a place and a remedy. */

/** What went wrong, by kind; `exitCodes` maps each to the exit status of the command line. */
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

/** What an error may carry beside its message. */
export interface ErrorDetails {
  /** What the user can do about it, one sentence. */
  hint?: string;
  cause?: unknown;
  /** Everything else would fail alike: work over many items ends, rather than counting one as missed. Default false. */
  fatal?: boolean;
  /** Thrown between two steps: what was done is whole and worth saving. Default whether the code is `stopped`. */
  resumable?: boolean;
}

/**
 * An expected failure. The message reads "expected X, got Y, at Z"; the hint says what to do.
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

/** Why `fetch` failed, by the system's code, which lies below what it throws; codes of its own library say less than their words. */
export function reasonOfFetch(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  const code = cause?.code?.startsWith('UND_') ? undefined : cause?.code;
  return code ?? cause?.message ?? message ?? String(error);
}
