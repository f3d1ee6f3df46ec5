/** One process at a time writes a run folder. The lock of a process that died is taken over. */
import { constants, copyFileSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { pid } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { WorkbenchError } from './errors.js';
import { isRunning, writeError } from './files.js';
import { throwIfStopped } from './stop.js';

const lockName = '.lock';

/** Who holds a lock. `born` tells two processes with one number apart: numbers are reused, above all in containers. */
interface Holder {
  pid: number;
  host: string;
  born: string;
}

/**
 * Locks a folder for this process; makes it where it is missing.
 * @param what the folder holds, with its article
 * @returns releases the lock
 * @throws WorkbenchError `usage` when a living process holds it, `failure` where nothing can be written
 */
export function lockFolder(folder: string, what = 'a run'): () => void {
  return lockFile(join(folder, lockName), what);
}

/**
 * As `lockFolder`, by a file of any name; missing folders above it are made.
 * @param what that file stands for, with its article
 */
export function lockFile(lock: string, what: string): () => void {
  const folder = dirname(lock);
  const own = JSON.stringify({ pid, host: hostname(), born: birthOf(pid) } satisfies Holder);
  const draft = `${lock}.${pid}`;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(draft, own);
    // A link appears whole or fails because a lock is there: no moment where two processes could both think they have it.
    while (!tryCreate(draft, lock)) {
      const found = readLock(lock);
      if (found === undefined) continue;
      if (isAlive(found)) throw lockedError(lock, what, found);
      removeStale(lock, found);
    }
  } catch (error) {
    throw writeError(error, lock);
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (readLock(lock) === own) rmSync(lock, { force: true });
  };
}

/** Whether a living process writes this folder. */
export function isLocked(folder: string): boolean {
  return isHeld(join(folder, lockName));
}

function isHeld(lock: string): boolean {
  const found = readLock(lock);
  return found !== undefined && isAlive(found);
}

/** Milliseconds between two looks at a lock. */
const lookEvery = 100;

/**
 * As `lockFile`, and waits for whoever holds it.
 * @param signal aborted: it waits no longer
 * @throws WorkbenchError `stopped` once the signal is aborted
 */
export async function lockedFile(lock: string, what: string, signal?: AbortSignal): Promise<() => void> {
  while (isHeld(lock)) {
    throwIfStopped(signal);
    await setTimeout(lookEvery);
  }
  try {
    return lockFile(lock, what);
  } catch (error) {
    // Somebody was faster.
    if (error instanceof WorkbenchError && isHeld(lock)) return lockedFile(lock, what, signal);
    throw error;
  }
}

function tryCreate(draft: string, lock: string): boolean {
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
  }
  // A file system without links: the next best that fails where a lock is.
  try {
    copyFileSync(draft, lock, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moves a dead process's lock away; if another process was faster and the lock is new, it is put back. */
function removeStale(lock: string, stale: string): void {
  const aside = `${lock}.stale.${pid}`;
  try {
    renameSync(lock, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (readLock(aside) !== stale) tryCreate(aside, lock);
  rmSync(aside, { force: true });
}

function readLock(lock: string): string | undefined {
  try {
    return readFileSync(lock, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** On another machine nothing can be known: it counts as alive. */
function isAlive(content: string): boolean {
  const holder = parseHolder(content);
  if (holder === undefined) return false;
  if (holder.host !== hostname()) return true;
  return isRunning(holder.pid) && birthOf(holder.pid) === holder.born;
}

function parseHolder(content: string): Holder | undefined {
  try {
    const { pid, host, born } = JSON.parse(content) as Partial<Holder>;
    return Number.isInteger(pid) && pid! > 0 && host && born !== undefined ? { pid: pid!, host, born } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * When a process started, in the system's own clock ticks; empty where the system does not tell. A process that has ended keeps
 * its number until its parent asks for its status, in containers often for good: then it is said to be gone.
 */
function birthOf(id: number): string {
  try {
    // The name in parentheses may hold spaces: fields are counted from its end. The state is field 3, the start time field 22.
    const fields = readFileSync(`/proc/${id}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'gone' : (fields[19] ?? '');
  } catch {
    return '';
  }
}

function lockedError(lock: string, what: string, content: string): WorkbenchError {
  const { pid, host } = parseHolder(content)!;
  const message = `expected ${what} that nobody writes, got one held by process ${pid} on ${host}, at ${dirname(lock)}`;
  const hint = `Wait for it or stop it. If it is gone from ${host}, delete ${lock}.`;
  return new WorkbenchError('usage', message, { hint });
}
