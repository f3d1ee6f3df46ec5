/** The one door to lmdb: loaded on first need. */
import { mkdirSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';
import { WorkbenchError } from '../run/errors.js';
import { writeError } from '../run/files.js';

/**
 * Opens (or makes) a database folder that several processes may share; the map grows by itself.
 * @throws WorkbenchError `native` when lmdb is missing for this machine, `failure` when the folder cannot be used
 */
export async function openStore(folder: string): Promise<RootDatabase> {
  let library: typeof import('lmdb');
  try {
    library = await import('lmdb');
  } catch (error) {
    throw new WorkbenchError('native', 'expected lmdb with a binary for this machine, got none', {
      hint: 'Run `npm install` again with optional packages allowed, and see `kgwalk doctor`.',
      cause: error,
    });
  }
  try {
    mkdirSync(folder, { recursive: true });
    return library.open({ path: folder, maxDbs: 4, noSubdir: false });
  } catch (error) {
    throw storeError(error, folder);
  }
}

/** Turns what the database says into the error a user sees. */
export function storeError(error: unknown, folder: string): unknown {
  const known = writeError(error, `${folder}/data.mdb`);
  if (known instanceof WorkbenchError) return known;
  const message = error instanceof Error ? error.message : String(error);
  return new WorkbenchError('failure', `expected a usable vector cache, got: ${message}, at ${folder}`, {
    hint: /no space/i.test(message)
      ? 'Free some space; what was stored before is intact.'
      : 'Delete that folder (it is only a cache), or give another place with KGWALK_HOME.',
    cause: error,
  });
}
