/** One process at a time writes a run folder. The lock of a process that died is taken over. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pid } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { WorkbenchError } from './errors.js';
import { isRunning, makeFolder, writeError } from './files.js';
import { isDone, type LockDisk, type LockState, lockStep, waits } from './lock-steps.js';
import { throwIfStopped } from './stop.js';

const lockName = '.lock';
/** This machine, in letters that a file's name may have. */
const machine = hostname().replace(/[^\w.-]/g, '_');

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
  const taken = take(lock);
  if (typeof taken === 'function') return taken;
  throw lockedError(lock, what, taken);
}

/** Who keeps a lock from being taken, and the file that says so. */
type Blocker = Pick<Holder, 'pid' | 'host'> & { file: string };

/** How often, and for how many milliseconds, a process waits for others that take over the same dead lock. */
const [patience, pause] = [400, 5];

/** Takes a lock by the steps of `lock-steps.ts`. @returns releases it; or who is in the way */
function take(lock: string): (() => void) | Blocker {
  const folder = dirname(lock);
  const own = { pid, host: machine, born: birthOf(pid) } satisfies Holder;
  const content = JSON.stringify(own);
  // Who made a claim must be known while it is being written: its name says it.
  const claim = `${basename(lock)}.${pid}-${own.born}-${randomBytes(6).toString('hex')}-${own.host}`;
  const draft = join(folder, claim);
  const disk: LockDisk = {
    claim: () => writeFileSync(draft, content, { flag: 'wx' }),
    withdraw: () => rmSync(draft, { force: true }),
    create: () => tryLink(draft, lock),
    replace: () => renameSync(draft, lock),
    read: () => readLock(lock),
    rivals: () => livingClaims(lock).filter((other) => other !== claim),
    isAlive: (holder) => isAlive(parseHolder(holder)),
  };
  try {
    makeFolder(folder);
    let state: LockState = { next: 'claim', claim, patience };
    while (!isDone(state)) {
      const before = state;
      state = lockStep(state, disk);
      if (waits(state, before)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
    }
    if (state.next === 'refused') {
      const { by } = state;
      return 'holder' in by!
        ? { ...parseHolder(by.holder)!, file: lock }
        : { ...claimant(lock, by!.claim)!, file: join(folder, by!.claim) };
    }
    // What processes left that died before they saw a lock.
    livingClaims(lock);
  } catch (error) {
    rmSync(draft, { force: true });
    throw writeError(error, lock);
  }
  return () => {
    // While this process lives nobody else changes its lock, unless by hand.
    if (readLock(lock) === content) rmSync(lock, { force: true });
  };
}

/** Names of the claims to a lock, of living processes; those of dead ones are removed. */
function livingClaims(lock: string): string[] {
  const folder = dirname(lock);
  return readdirSync(folder).filter((name) => {
    const by = claimant(lock, name);
    if (by === undefined) return false;
    if (isAlive(by)) return true;
    rmSync(join(folder, name), { force: true });
    return false;
  });
}

/** The process that a claim to a lock is of, by the claim's name; undefined for what is no claim to it. */
function claimant(lock: string, name: string): Holder | undefined {
  const prefix = `${basename(lock)}.`;
  if (!name.startsWith(prefix)) return undefined;
  const [, id, born, host] = /^(\d+)-(\d*)-[0-9a-f]{12}-([\w.-]+)$/.exec(name.slice(prefix.length)) ?? [];
  if (id === undefined || born === undefined || host === undefined) return undefined;
  return { pid: Number(id), born, host };
}

/** Whether a living process writes this folder. */
export function isLocked(folder: string): boolean {
  return isHeld(join(folder, lockName));
}

/** Whether a living process holds the lock that `lockFile` takes. */
export function isHeld(lock: string): boolean {
  const found = readLock(lock);
  return found !== undefined && isAlive(parseHolder(found));
}

/** Removes the lock of a folder that a dead process left; of a folder that cannot be written it stays. */
export function removeDeadLock(folder: string): void {
  const lock = join(folder, lockName);
  if (!existsSync(lock) || isHeld(lock)) return;
  try {
    lockFile(lock, 'a run')();
  } catch {
    // It keeps nobody from anything.
  }
}

/** Milliseconds between two looks at a lock. */
const lookEvery = 100;

/**
 * As `lockFile`, and waits for whoever holds it.
 * @param signal aborted: it waits no longer
 * @throws WorkbenchError `stopped` where it would have to wait and the signal is aborted
 */
export async function lockedFile(lock: string, signal?: AbortSignal): Promise<() => void> {
  for (;;) {
    const taken = isHeld(lock) ? undefined : take(lock);
    if (typeof taken === 'function') return taken;
    throwIfStopped(signal);
    await setTimeout(lookEvery);
  }
}

/** What systems say that have no links. */
const noLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

function tryLink(draft: string, lock: string): boolean | undefined {
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (noLinks.has(code ?? '')) return undefined;
    throw error;
  }
}

/** More than any lock holds. */
const longestLock = 4096;

function readLock(lock: string): string | undefined {
  const stats = lstatSync(lock, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > longestLock) {
    const got = stats.isFile() ? `${stats.size} bytes` : stats.isDirectory() ? 'a folder' : 'something that is no file';
    throw new WorkbenchError('failure', `expected the lock of a process, got ${got}, at ${lock}`, {
      hint: 'No kgwalk made it: move it away.',
    });
  }
  try {
    return readFileSync(lock, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** On another machine nothing can be known: it counts as alive. */
function isAlive(holder: Holder | undefined): boolean {
  if (holder === undefined) return false;
  if (holder.host !== machine) return true;
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

function lockedError(lock: string, what: string, { pid, host, file }: Blocker): WorkbenchError {
  const message = `expected ${what} that nobody writes, got one held by process ${pid} on ${host}, at ${dirname(lock)}`;
  const hint = `Wait for it or stop it. If it is gone from ${host}, delete ${file}.`;
  return new WorkbenchError('usage', message, { hint });
}
