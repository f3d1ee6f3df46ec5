/** A file that is used under the hash of its bytes, and is noticed when it is no longer the one that was hashed. */
import { statSync } from 'node:fs';
import { WorkbenchError } from './errors.js';
import { sha256File } from './files.js';

/** A file and the hash it is used under. */
export interface HashedFile {
  /** sha256 (hex). */
  readonly hash: string;
  /**
   * Looks whether the file is still the one that was hashed: one look at its size, times and place on the disk, and a new hash
   * where those differ. What was read of it before is then what the hash names.
   * @throws WorkbenchError `data`, which ends all work with the file, when it was altered, replaced or removed
   */
  check(): Promise<void>;
}

/**
 * @param path of the file
 * @param hashOf reads the whole file by default; a caller that remembers hashes gives its own
 * @throws WorkbenchError `data` when it cannot be read, or changes while it is hashed
 */
export async function hashedFile(path: string, hashOf: (path: string) => Promise<string> = sha256File) {
  let known = looksOf(path);
  const hash = await hashOf(path);
  const file: HashedFile = {
    hash,
    async check() {
      const now = looksOf(path);
      if (now === known) return;
      const got = now === undefined ? 'nothing' : (await sha256File(path)) === hash ? undefined : 'another';
      if (got !== undefined) throw changed(path, hash, got);
      known = now;
    },
  };
  await file.check();
  return file;
}

/** What changes with a file's bytes, to the nanosecond; undefined for a file that is not there. */
export function looksOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
}

function changed(path: string, hash: string, got: string): WorkbenchError {
  return new WorkbenchError(
    'data',
    `expected the file that was opened (sha256 ${hash.slice(0, 12)}…), got ${got}, at ${path}`,
    {
      hint: 'It changed while it was in use; nothing made with the changed file was kept. Put it back, or start again with the new one.',
      fatal: true,
    },
  );
}
