/** A limit on how long a command may work. */
import { WorkbenchError } from '../src/run/errors.js';

/** The minutes that an option says. @throws WorkbenchError `usage` unless it is a number above 0 */
export function minutesOf(text: string, flag: string): number {
  if (Number(text) > 0) return Number(text);
  throw new WorkbenchError('usage', `expected a number above 0, got ${JSON.stringify(text)}, at ${flag}`);
}

/** Aborted after that many minutes; does not keep the process alive. */
export function timeLimit(minutes: number): AbortSignal {
  const longestTimer = 2 ** 31 - 1;
  return AbortSignal.timeout(Math.min(Math.ceil(minutes * 60_000), longestTimer));
}
