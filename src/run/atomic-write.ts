/** Writing a file so that a reader, or a crash, sees the old one or the new one and never half of it. */
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { WorkbenchError } from './errors.js';

/**
 * Writes `chunks` to a temporary name beside `file`, flushes them to disk and renames.
 * @param chunks one or more pieces, written in order
 * @throws WorkbenchError `failure` when the disk refuses; the temporary file is removed
 */
export async function writeFileAtomically(
  file: string,
  chunks: string | Uint8Array | Iterable<string | Uint8Array>,
): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  const pieces = typeof chunks === 'string' || chunks instanceof Uint8Array ? [chunks] : chunks;
  try {
    const handle = await open(temporary, 'wx');
    try {
      for (const piece of pieces) await handle.writeFile(piece);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (cause) {
    await rm(temporary, { force: true });
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WorkbenchError('failure', `expected to write ${file}, got ${reason}`, {
      hint: 'Check the free space and the permissions of the folder.',
      cause,
    });
  }
}
