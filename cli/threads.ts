/** `--threads N`: how a command is run, not what it does, so it is no setting and no checkpoint knows it. */
import type { Command } from 'commander';
import { WorkbenchError } from '../src/run/errors.js';

const most = 256;

/** Adds the option. @param what what the threads share, for the help */
export function addThreadsOption(command: Command, what: string): Command {
  return command.option('--threads <n>', `processor threads that share ${what} (default 1); no byte depends on it`);
}

/** The number that was given, 1 by default. @throws WorkbenchError `usage` unless it is a whole number from 1 to 256 */
export function threadsOf(text: string | undefined): number {
  if (text === undefined) return 1;
  const threads = Number(text);
  if (/^\d+$/.test(text) && threads >= 1 && threads <= most) return threads;
  throw new WorkbenchError(
    'usage',
    `expected a whole number from 1 to ${most}, got ${JSON.stringify(text)}, at --threads`,
  );
}
