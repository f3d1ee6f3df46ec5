/** Ctrl-C: the first asks the command to finish its step and save, the second ends at once. */
import process, { exit, stderr } from 'node:process';
import { exitCodes, WorkbenchError } from '../src/run/errors.js';

let controller: AbortController | undefined;

/**
 * The signal of this process, aborted by the first SIGINT or SIGTERM; the same at every call. A command that takes it
 * must look at it between steps, save, and throw `stopped` (`throwIfStopped`), which exits with 130.
 * Commands that never ask for it keep the system's behaviour.
 */
export function interruptSignal(): AbortSignal {
  if (controller) return controller.signal;
  controller = new AbortController();
  const { signal } = controller;
  const interrupted = () => {
    if (signal.aborted) exit(exitCodes.stopped);
    stderr.write('\nstopping after this step; press Ctrl-C again to stop at once\n');
    controller?.abort(new WorkbenchError('stopped', 'stopped by the user'));
  };
  process.on('SIGINT', interrupted);
  process.on('SIGTERM', interrupted);
  return signal;
}
