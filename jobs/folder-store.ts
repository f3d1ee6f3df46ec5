/** A store in a shared folder. */
import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { randomUUID } from 'node:crypto';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { flush, makeFolder, sha256File, writeError } from '../src/run/files.js';
import { confined } from '../src/run/locations.js';
import { type Blocker, tryLockFile } from '../src/run/run-lock.js';

/** Bytes, or a file of them: files may be larger than memory. */
export type Content = string | { file: string };

/** A store of named objects such as `results/1a2b….json`. Promises are rejected with errors of the disk or server. */
export interface Store {
  /** Address as given by the user. */
  readonly address: string;
  /** Undefined if there is no such object. */
  read(name: string): Promise<string | undefined>;
  /** Copies an object into a file, which appears complete. @returns false if there is none */
  download(name: string, file: string): Promise<boolean>;
  /** Writes an object, replacing any previous one. */
  write(name: string, content: Content): Promise<void>;
  /** True if an object is whole: it has the length of the file, and its content where that costs no transfer. */
  holds(name: string, file: string): Promise<boolean>;
  /** Creates an object. Of several concurrent attempts exactly one succeeds. @returns true if this one did */
  writeOnce(name: string, content: Content): Promise<boolean>;
  /** All names with a prefix, in order. */
  list(prefix: string): Promise<string[]>;
  /** Removes an object, if present. */
  remove(name: string): Promise<void>;
  /** Claims work for this process while it lives; absent where dead processes are unknown. @returns a release function, or the holder */
  readonly claim?: ((name: string) => (() => void) | Blocker) | undefined;
}

/** Opens the folder; created if missing. */
export function openFolderStore(address: string): Store {
  const root = resolve(address);
  const place = (name: string) => confined(root, name);

  /** Writes a temporary file and gives it its name by `take`. */
  function placed<T>(file: string, content: Content, take: (draft: string) => T): T {
    const draft = join(dirname(file), `.${randomUUID()}.tmp`);
    try {
      makeFolder(dirname(file));
      if (typeof content === 'string') writeFileSync(draft, content, { flush: true });
      else {
        copyFileSync(content.file, draft);
        // A power cut must leave no name without content.
        flush(draft);
      }
      return take(draft);
    } catch (error) {
      throw writeError(error, file);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  return {
    address,
    read: async (name) => (existsSync(place(name)) ? readFileSync(place(name), 'utf8') : undefined),
    async download(name, file) {
      if (!existsSync(place(name))) return false;
      placed(file, { file: place(name) }, (draft) => renameSync(draft, file));
      return true;
    },
    holds: async (name, file) =>
      existsSync(place(name)) && (await sha256File(place(name))) === (await sha256File(file)),
    write: async (name, content) => placed(place(name), content, (draft) => renameSync(draft, place(name))),
    // Named by link(2), which fails if the name exists, also on network file systems; the file is already complete.
    writeOnce: async (name, content) =>
      placed(place(name), content, (draft) => {
        try {
          linkSync(draft, place(name));
          return true;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
          throw error;
        }
      }),
    async list(prefix) {
      const folder = place(prefix);
      if (!existsSync(folder)) return [];
      const names = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
        .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'));
      return names.sort();
    },
    remove: async (name) => rmSync(place(name), { force: true }),
    claim: (name) => tryLockFile(place(name)),
  };
}
