/** Shared storage of results: a folder that all of them see, or a bucket of S3. */
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { WorkbenchError } from '../src/run/errors.js';
import type { Store } from './folder-store.js';

export type { Store } from './folder-store.js';

/**
 * Opens a store and tries it.
 * @param address `s3://BUCKET/PREFIX`, or a folder
 * @throws WorkbenchError `usage` for an address that is none and a store that takes a name twice; `failure` for one that does not answer
 */
export async function openStore(address: string): Promise<Store> {
  const scheme = /^(\w[\w+.-]*):\/\//.exec(address)?.[1];
  if (scheme !== undefined && scheme !== 's3') {
    throw new WorkbenchError('usage', `expected a store, s3://BUCKET/PREFIX or a folder, got ${address}, at --store`);
  }
  const plain =
    scheme === 's3'
      ? await (await import('./s3-store.js')).openS3Store(address)
      : (await import('./folder-store.js')).openFolderStore(address);
  const store = patient(plain, 3);
  const probe = `probe/${randomUUID()}`;
  const first = await store.writeOnce(probe, 'kgwalk');
  const second = await store.writeOnce(probe, 'another');
  const kept = await store.read(probe);
  await store.remove(probe);
  if (first && !second && kept === 'kgwalk') return patient(plain, 10);
  throw new WorkbenchError(
    'usage',
    `expected a store that takes a name once (If-None-Match), got one that took it twice, at ${address}`,
    {
      hint: 'Two workers would overwrite each other there. AWS S3, Versity, Ceph and MinIO of 2024 and later have conditional writes.',
    },
  );
}

/** Milliseconds between two tries: they double up to the longest. */
const [firstPause, longestPause] = [200, 20_000];

/** True for errors that a retry cannot fix. */
const isFinal = (error: unknown) => error instanceof WorkbenchError;

/**
 * Tries again what fails. A write that failed may have arrived: then what is there under the name is compared, so that a name
 * that this process gave counts as given by it. A worker that is being stopped is as patient: what it did so far is to be kept.
 */
function patient(store: Store, tries: number): Store {
  async function again<T>(what: string, attempt: (tried: number) => Promise<T>): Promise<T> {
    for (let tried = 1, pause = firstPause; ; tried++, pause = Math.min(2 * pause, longestPause)) {
      try {
        return await attempt(tried);
      } catch (error) {
        if (isFinal(error)) throw error;
        if (tried === tries) throw storeError(error, what, store.address);
        // Several workers that were refused together do not come back together.
        await setTimeout(pause / 2 + randomInt(pause));
      }
    }
  }
  return {
    address: store.address,
    claim: store.claim,
    read: (name) => again(`reading ${name}`, () => store.read(name)),
    download: (name, file) => again(`reading ${name}`, () => store.download(name, file)),
    write: (name, content) => again(`writing ${name}`, () => store.write(name, content)),
    holds: (name, file) => again(`reading ${name}`, () => store.holds(name, file)),
    list: (prefix) => again(`listing ${prefix}`, () => store.list(prefix)),
    remove: (name) => again(`removing ${name}`, () => store.remove(name)),
    writeOnce: (name, content) =>
      again(`writing ${name}`, async (tried) => {
        if (await store.writeOnce(name, content)) return true;
        return tried > 1 && typeof content === 'string' && (await store.read(name)) === content;
      }),
  };
}

function storeError(error: unknown, what: string, address: string): WorkbenchError {
  const { name, message, code } = error as NodeJS.ErrnoException;
  const said = message || code || name;
  return new WorkbenchError('failure', `expected a store that answers, got ${said}, ${what} at ${address}`, {
    hint: 'What is done stays done: the same command resumes.',
    cause: error,
    fatal: true,
    resumable: true,
  });
}
