/** Removal of runs, data sets and models that a command names: inside their home alone, never through a link. */
import { existsSync, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { WorkbenchError } from './errors.js';
import { bytesIn, writeError } from './files.js';
import { confined, runsFolder } from './locations.js';
import { findPlaces } from './places.js';
import { runFiles } from './run-files.js';
import { openRun } from './run-folder.js';
import { isLocked, lockFolder } from './run-lock.js';
import { sweepFiles } from './sweep.js';

/** Path that is gone, and its bytes. */
export interface Removal {
  removed: string;
  bytes: number;
}

/**
 * The path of something that may be removed, without links.
 * @throws WorkbenchError `usage` for a path that is outside `home`, or behind a link in it
 */
export function removablePath(home: string, path: string): string {
  const inside = relative(resolve(home), confined(home, relative(resolve(home), resolve(path))));
  const real = join(realpathSync(home), inside);
  if (realpathSync(path) === real) return real;
  throw new WorkbenchError('usage', `expected a path without links, got one that leads elsewhere, at ${path}`, {
    hint: 'Links are not followed: delete the link yourself.',
  });
}

/**
 * Deletes a file, or a folder with all that is in it.
 * @param home folder that it must lie in
 * @param last names in the folder that mark its kind: deleted last, so that a removal that was killed can be repeated
 * @throws WorkbenchError as `removablePath`, `failure` where it cannot be deleted
 */
export function removeInside(home: string, path: string, last: readonly string[] = []): Removal {
  const real = removablePath(home, path);
  const bytes = bytesIn(real);
  try {
    const names = lstatSync(real).isDirectory() ? readdirSync(real) : [];
    for (const name of names.filter((one) => !last.includes(one))) rmSync(join(real, name), { recursive: true });
    rmSync(real, { recursive: true });
  } catch (error) {
    throw writeError(error, real);
  }
  return { removed: resolve(path), bytes };
}

/**
 * Removes a run, or a sweep with its runs.
 * @param nameOrFolder a folder, or a name inside the folder of runs
 * @throws WorkbenchError `data` where there is none, `usage` where a process writes to it, and as `removeInside`
 */
export function removeRun(nameOrFolder: string): Removal {
  const home = runsFolder();
  const isOne = (folder: string) => existsSync(runFiles(folder).config) || existsSync(sweepFiles(folder).sweep);
  // Where there is none, the error of opening it names what is missing.
  const folder = [resolve(nameOrFolder), resolve(home, nameOrFolder)].find(isOne) ?? openRun(nameOrFolder).folder;
  const real = removablePath(home, folder);
  const used = [...findPlaces([real]).values()].map((place) => place.folder);
  for (let at = dirname(real); at.length > realpathSync(home).length; at = dirname(at)) used.push(at);
  const busy = used.find(isLocked);
  if (busy !== undefined) {
    throw new WorkbenchError('usage', `expected a run that no process writes to, got one in use, at ${busy}`, {
      hint: 'Wait for the process, or stop it.',
    });
  }
  const unlock = lockFolder(real);
  try {
    const { config } = runFiles(real);
    const { sweep, lock } = sweepFiles(real);
    return removeInside(
      home,
      folder,
      [config, sweep, lock].map((file) => basename(file)),
    );
  } finally {
    unlock();
  }
}
