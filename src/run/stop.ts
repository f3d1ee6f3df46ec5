/** Stopping on request, or because memory runs out: long loops ask between two steps, so that what they return to is whole. */
import { WorkbenchError } from './errors.js';
import { throwIfMemoryShort } from './memory.js';

/**
 * @throws WorkbenchError `stopped` once the signal is aborted, whatever the reason: the user or a time limit; `failure`, resumable
 *   like it, when nearly all memory is in use
 */
export function throwIfStopped(signal: AbortSignal | undefined): void {
  throwIfMemoryShort();
  if (!signal?.aborted) return;
  throw signal.reason instanceof WorkbenchError ? signal.reason : new WorkbenchError('stopped', 'stopped on request');
}
