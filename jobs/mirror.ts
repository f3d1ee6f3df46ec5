/** A store seen as a folder, for what reads and writes folders. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../src/run/files.js';
import { openStore } from './store.js';

/**
 * Works in a folder with the files that a store has under a prefix, and puts those there that are new.
 * @param address `s3://BUCKET/PREFIX`
 * @param prefix of names in the store, with a slash at its end; what stands behind it are names of files
 */
export async function mirrored<T>(address: string, prefix: string, work: (folder: string) => Promise<T>): Promise<T> {
  const store = await openStore(address);
  const folder = temporaryFolder('mirror');
  try {
    const there = new Set((await store.list(prefix)).map((name) => name.slice(prefix.length)));
    for (const name of there) await store.download(prefix + name, join(folder, name));
    const done = await work(folder);
    for (const name of readdirSync(folder).filter((one) => !there.has(one))) {
      await store.writeOnce(prefix + name, { file: join(folder, name) });
    }
    return done;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
