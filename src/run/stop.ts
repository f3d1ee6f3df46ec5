/** Stopping on request: long loops ask between two steps, so that what they return to is whole. */
import { WorkbenchError } from './errors.js';

/** @throws WorkbenchError `stopped` once the signal is aborted, whatever the reason: the user or a time limit */
export function throwIfStopped(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw signal.reason instanceof WorkbenchError ? signal.reason : new WorkbenchError('stopped', 'stopped on request');
}
