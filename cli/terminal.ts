/** Terminal handling of a command: progress, notes, Ctrl-C. */
import { basename } from 'node:path';
import process, { stderr } from 'node:process';
import { exitCodes, WorkbenchError } from '../src/run/errors.js';
import { stopSignals, timeLimit } from './options.js';
import { commandProgress } from './global-options.js';
import type { EvaluationFlags } from '../tasks/flags.js';
import { type AnyTask, refuseOtherFlags } from '../tasks/index.js';
import type { Named, Work } from '../tasks/task.js';
import { printNote } from './output.js';

/**
 * Progress lines and notes go to standard error; Ctrl-C finishes the step and saves, as does the end of the time.
 * @param maxMinutes above 0; default no end
 */
export function terminalWork(maxMinutes?: number): Work & { signal: AbortSignal } {
  const interrupt = interruptSignal();
  return {
    progress: commandProgress(),
    signal: maxMinutes === undefined ? interrupt : AbortSignal.any([interrupt, timeLimit(maxMinutes)]),
    note: printNote,
    onTruncatedLog: warnTruncated,
    preset: async (name) => (await import('../presets/index.js')).openPreset(name),
  };
}

/** Reports that a log's unfinished last line (from a crash) was removed; nothing for an intact log. @param bytes length of that line */
export function warnTruncated(file: string, bytes: number): void {
  if (bytes > 0) printNote(`${basename(file)}: cut off a last line that a crash left unfinished (${bytes} bytes)`);
}

/** The task of some names and options. @throws WorkbenchError `usage` for options that it does not have */
export async function taskFor(named: readonly Named[], flags: EvaluationFlags): Promise<AnyTask> {
  const { taskOf } = await import('../tasks/named.js');
  const task = await taskOf(named, flags);
  refuseOtherFlags(flags, task.name);
  return task;
}

/** Signals in quick succession count as one: supervisors such as `timeout -s INT` signal the program and its process group. */
const oneInterruptMs = 300;
let controller: AbortController | undefined;

/**
 * The signal of this process, aborted by the first SIGINT, SIGTERM or SIGHUP (the terminal is gone); the same at every call. A command that takes it
 * must look at it between steps, save, and throw `stopped` (`throwIfStopped`), which exits with 130.
 * Commands that never ask for it keep the system's behaviour.
 */
export function interruptSignal(): AbortSignal {
  if (controller) return controller.signal;
  controller = new AbortController();
  const { signal } = controller;
  let first = 0;
  const interrupted = () => {
    const now = performance.now();
    if (signal.aborted && now - first < oneInterruptMs) return;
    if (signal.aborted) process.exit(exitCodes.stopped);
    first = now;
    stderr.write('\nstopping after this step; press Ctrl-C again to stop at once\n');
    controller?.abort(new WorkbenchError('stopped', 'stopped by the user'));
  };
  for (const asked of stopSignals) process.on(asked, interrupted);
  return signal;
}
