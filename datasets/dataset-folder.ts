/** Where data sets lie, and how one replaces another. */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pid } from 'node:process';
import { WorkbenchError } from '../src/run/errors.js';
import { writeError } from '../src/run/files.js';
import { kgwalkHome } from '../src/run/locations.js';

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
 * new one and the old one stays.
 */
export async function replaceFolder(folder: string, fill: (temporary: string) => Promise<void>): Promise<void> {
  const beside = (role: string) => join(folder, '..', `.${folder.split(/[\\/]/).at(-1)}.${pid}.${role}`);
  const temporary = beside('new');
  const old = beside('old');
  try {
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary, { recursive: true });
    await fill(temporary);
    const replaces = existsSync(folder);
    if (replaces) renameSync(folder, old);
    try {
      renameSync(temporary, folder);
    } catch (error) {
      if (replaces) renameSync(old, folder);
      throw error;
    }
    rmSync(old, { recursive: true, force: true });
  } catch (error) {
    throw writeError(error, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
