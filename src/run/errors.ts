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

/** An error of `fetch`, or several of the addresses of one host. By shape: those of other realms are no `Error` here. */
export interface ErrorLike {
  message?: string;
  code?: unknown;
  cause?: ErrorLike;
  errors?: ErrorLike[];
}

/** The system's code of a failed connection, from wherever `fetch` has put it. */
export function systemCode(error: unknown): string | undefined {
  for (let at = error as ErrorLike | undefined, depth = 0; at && depth < 6; depth++) {
    if (typeof at.code === 'string') return at.code;
    at = at.errors?.[0] ?? at.cause;
  }
  return undefined;
}

/** Why `fetch` failed: the system's code, but the words of its own library, whose codes say less. */
export function reasonOfFetch(error: unknown): string {
  const { message, cause } = error as ErrorLike;
  const code = systemCode(error);
  return code !== undefined && !code.startsWith('UND_') ? code : (cause?.message ?? message ?? String(error));
}
