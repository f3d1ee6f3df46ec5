/** A store in a folder that all machines see. */
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
import { makeFolder, writeError } from '../src/run/files.js';
import { confined } from '../src/run/locations.js';

/** Bytes, or a file of them: files may be larger than memory. */
export type Content = string | { file: string };

/** What stands under names such as `results/1a2b….json`. Every promise may be rejected with what the disk or the server said. */
export interface Store {
  /** As the user named it. */
  readonly address: string;
  /** Undefined where nothing stands there. */
  read(name: string): Promise<string | undefined>;
  /** Copies what stands there into a file, which appears whole. @returns false where nothing does */
  download(name: string, file: string): Promise<boolean>;
  /** Puts something there, whatever was. */
  write(name: string, content: Content): Promise<void>;
  /** Puts something where nothing is. Of several who try at once one succeeds. @returns whether it did */
  writeOnce(name: string, content: Content): Promise<boolean>;
  /** All names that begin so, in order. */
  list(prefix: string): Promise<string[]>;
  /** Nothing stands there afterwards. */
  remove(name: string): Promise<void>;
}

/** Opens the folder; it is made where it is missing. */
export function openFolderStore(address: string): Store {
  const root = resolve(address);
  const place = (name: string) => confined(root, name);

  /** Writes a file beside its place under a name of its own, and gives it the name by `take`. */
  function placed<T>(file: string, content: Content, take: (draft: string) => T): T {
    const draft = join(dirname(file), `.${randomUUID()}.tmp`);
    try {
      makeFolder(dirname(file));
      if (typeof content === 'string') writeFileSync(draft, content, { flush: true });
      else copyFileSync(content.file, draft);
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
    write: async (name, content) => placed(place(name), content, (draft) => renameSync(draft, place(name))),
    // A name is given by link(2), which fails where there is one: also on network file systems, and of a file that is whole.
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
  };
}
