/** Where data sets lie, and how one replaces another. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { WorkbenchError } from '../src/run/errors.js';
import { writeError } from '../src/run/files.js';
import { kgwalkHome } from '../src/run/locations.js';
import { lockFolder } from '../src/run/run-lock.js';

/** The folder of all data sets. @param home default `KGWALK_HOME` */
export function datasetsRoot(home: string = kgwalkHome()): string {
  return join(home, 'datasets');
}

/**
 * The folder of one data set, whether it exists or not.
 * @throws WorkbenchError `usage` for a name that is no plain folder name
 */
export function datasetFolder(name: string, home?: string): string {
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name)) {
    throw new WorkbenchError('usage', `expected a data set name, got ${JSON.stringify(name)}`, {
      hint: 'Use letters, digits, dots, dashes and underscores, starting with a letter or digit.',
    });
  }
  return join(datasetsRoot(home), name);
}

/**
 * Lets `fill` write a new folder beside `folder`, then puts it in its place. When `fill` fails nothing is left of the
 * new one and the old one stays; what a killed process left behind is cleared by the next call for the same folder.
 * @returns what `fill` returned
 * @throws WorkbenchError `usage` while another process replaces a data set of the same home
 */
export async function replaceFolder<T>(folder: string, fill: (temporary: string) => Promise<T>): Promise<T> {
  const root = dirname(folder);
  const temporary = join(root, `.${basename(folder)}.new`);
  const old = join(root, `.${basename(folder)}.old`);
  try {
    mkdirSync(root, { recursive: true });
    const unlock = lockFolder(root);
    try {
      rmSync(temporary, { recursive: true, force: true });
      if (existsSync(old) && !existsSync(folder)) renameSync(old, folder);
      mkdirSync(temporary);
      const filled = await fill(temporary);
      // A folder that is not empty cannot be renamed over: the old one steps aside, for a moment.
      rmSync(old, { recursive: true, force: true });
      if (existsSync(folder)) renameSync(folder, old);
      renameSync(temporary, folder);
      rmSync(old, { recursive: true, force: true });
      return filled;
    } finally {
      rmSync(temporary, { recursive: true, force: true });
      unlock();
    }
  } catch (error) {
    throw writeError(error, folder);
  }
}
