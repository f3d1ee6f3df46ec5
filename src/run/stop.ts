/** Stopping on request: long loops ask between two steps, so that what they return to is whole. */
import { WorkbenchError } from './errors.js';

/** @throws WorkbenchError `stopped` once the signal is aborted */
export function throwIfStopped(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new WorkbenchError('stopped', 'stopped on request');
}
