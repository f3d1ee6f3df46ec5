/** How somebody watches long work: where its progress goes, and what stops it. */
import { terminalProgress } from '../src/run/progress.js';
import type { ProgressReporter } from '../src/run/progress.js';
import { interruptSignal } from './interrupt.js';

/** Progress lines and the signal of Ctrl-C. */
export interface Watch {
  progress: ProgressReporter;
  /** Aborted: the step is finished and saved, then `stopped` is thrown. */
  signal: AbortSignal;
}

/** A person at a terminal, who stops by Ctrl-C. */
export function terminalWatch(): Watch {
  return { progress: terminalProgress(), signal: interruptSignal() };
}
