/** Exclusive lock of a run folder. The lock of a dead process is taken over. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pid } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { WorkbenchError } from './errors.js';
import { isRunning, machine, makeFolder, writeError } from './files.js';
import { throwIfStopped } from './stop.js';

const lockName = '.lock';

/** `born` distinguishes two processes with the same number: numbers are reused, above all in containers. */
type Holder = { pid: number; host: string; born: string };

/**
 * Locks a folder for this process; creates it if missing.
 * @param what content of the folder, with its article
 * @returns releases the lock
 * @throws WorkbenchError `usage` if a live process holds it, `failure` if nothing can be written
 */
export const lockFolder = (folder: string, what = 'a run'): (() => void) => lockFile(join(folder, lockName), what);

/**
 * As `lockFolder`, for a lock file of any name; missing parent folders are created.
 * @param what what the file stands for, with its article
 */
export function lockFile(lock: string, what: string): () => void {
  const taken = tryLockFile(lock);
  if (typeof taken === 'function') return taken;
  const { pid, host, file } = taken;
  const message = `expected ${what} without another writer, got one held by process ${pid} on ${host}, at ${dirname(lock)}`;
  const hint = `Wait for it or stop it. If it is gone from ${host}, delete ${file}.`;
  throw new WorkbenchError('usage', message, { hint });
}

/** The process that blocks a lock, and the file that names it. */
export type Blocker = Pick<Holder, 'pid' | 'host'> & { file: string };

/** Number and length (milliseconds) of waits for others that take over the same dead lock. */
const [patience, pause] = [400, 5];

/** Takes a lock by steps of `lockStep`. @returns a release function, or the process that holds it */
export function tryLockFile(lock: string): (() => void) | Blocker {
  const folder = dirname(lock);
  const own = { pid, host: machine, born: birthOf(pid) } satisfies Holder;
  const content = JSON.stringify(own);
  // The owner of a claim is in its name, so that it is known even while the claim is being written.
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
    // Leftovers of processes that died before they reached a lock.
    livingClaims(lock);
  } catch (error) {
    rmSync(draft, { force: true });
    throw writeError(error, lock);
  }
  return () => {
    // While this process lives, its lock only changes by hand.
    if (readLock(lock) === content) rmSync(lock, { force: true });
  };
}

/** Names of claims of live processes; those of dead ones are removed. */
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

/** Process of a claim, from its name; undefined for other files. */
function claimant(lock: string, name: string): Holder | undefined {
  const prefix = `${basename(lock)}.`;
  if (!name.startsWith(prefix)) return undefined;
  const [, id, born, host] = /^(\d+)-(\d*)-[0-9a-f]{12}-([\w.-]+)$/.exec(name.slice(prefix.length)) ?? [];
  if (id === undefined || born === undefined || host === undefined) return undefined;
  return { pid: Number(id), born, host };
}

/** True if a live process writes this folder. */
export const isLocked = (folder: string): boolean => isHeld(join(folder, lockName));

/** True if a live process holds the lock of `lockFile`. */
export function isHeld(lock: string): boolean {
  const found = readLock(lock);
  return found !== undefined && isAlive(parseHolder(found));
}

/** Removes the lock left in a folder by a dead process; it stays if the folder cannot be written. */
export function removeDeadLock(folder: string): void {
  const lock = join(folder, lockName);
  if (!existsSync(lock) || isHeld(lock)) return;
  try {
    lockFile(lock, 'a run')();
  } catch {
    // It blocks nothing.
  }
}

const lookEvery = 100;

/**
 * As `lockFile`, but waits for the holder.
 * @param signal stops waiting
 * @throws WorkbenchError `stopped` if it would have to wait and the signal is aborted
 */
export async function lockedFile(lock: string, signal?: AbortSignal): Promise<() => void> {
  for (;;) {
    const taken = isHeld(lock) ? undefined : tryLockFile(lock);
    if (typeof taken === 'function') return taken;
    throwIfStopped(signal);
    await setTimeout(lookEvery);
  }
}

/** Error codes of file systems without hard links. */
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

/** Processes of another machine cannot be checked: they count as live. */
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
 * Start time of a process in system clock ticks; empty if the system does not report it. A process that has ended keeps
 * its number until its parent collects its status, in containers often for good: it counts as dead.
 */
function birthOf(id: number): string {
  try {
    // Counted from the end of the name in parentheses, which may contain spaces: state (field 3), start time (22).
    const fields = /^.*\) (\S)(?: \S+){18} (\d+)/s.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? [];
    return fields[1] === 'Z' || fields[1] === 'X' ? 'gone' : (fields[2] ?? '');
  } catch {
    return '';
  }
}

/**
 * The disk of a lock; each operation is one system call and one step, so that a test can try every interleaving of several processes and
 * every moment of death (`test/src/run/lock-steps.long.test.ts`).
 *
 * The lock is one file, made by a link, which fails where one is. A dead process's lock stands until it is replaced by one rename, and who
 * replaces it is agreed by claims: each process has a claim, a file with a unique name, before it looks at anything. It replaces the lock
 * only after it saw no other living claim and then the dead lock once more; where the file system has no links, no lock is taken in the
 * same way. Of two processes one made its claim before the other one looked: the other one sees it and waits, or, where the claim is gone,
 * sees the new lock that the claim became in one rename. So no live lock is ever moved, replaced or removed by anybody but its holder;
 * what dead processes leave are claims, and no claim name is used twice, so that any process may remove them.
 */
export interface LockDisk {
  claim(): void;
  /** Removes this process's claim, if present. */
  withdraw(): void;
  /** Links the claim to the lock and keeps the claim; false if a lock exists, undefined if the file system has no links. */
  create(): boolean | undefined;
  /** Renames the claim to the lock, replacing any lock. */
  replace(): void;
  /** Content of the lock; undefined if there is none. */
  read(): string | undefined;
  /** Names of other claims of live processes; those of dead ones are removed. */
  rivals(): readonly string[];
  isAlive(holder: string): boolean;
}

/** Next step of one process; a plain value. */
export interface LockState {
  next: 'claim' | 'create' | 'settle' | 'read' | 'look' | 'yield' | 'again' | 'replace' | 'refuse' | 'held' | 'refused';
  claim: string;
  /** The dead lock found; undefined if there was none. */
  found?: string | undefined;
  /** The blocker: content of a lock, or name of a claim. */
  by?: { holder: string } | { claim: string };
  /** Remaining waits for other claims. */
  patience: number;
}

/** True if a process at this step already holds the lock. */
export const holds = ({ next }: LockState): boolean => next === 'settle' || next === 'held';

export const isDone = ({ next }: LockState): boolean => next === 'held' || next === 'refused';

/** True if it should wait before the next step. */
export const waits = ({ next, patience }: LockState, before: LockState): boolean =>
  patience < before.patience && next !== 'refuse';

/** Performs the next step: one call of `disk`. */
export function lockStep(state: LockState, disk: LockDisk): LockState {
  const { next, claim, found, patience } = state;
  const then = (after: LockState['next'], more: Partial<LockState> = {}): LockState => ({
    ...state,
    ...more,
    next: after,
  });
  switch (next) {
    case 'claim':
      disk.claim();
      return then('create');
    case 'create':
      switch (disk.create()) {
        case true:
          return then('settle');
        case false:
          return then('read');
        case undefined:
          return then('look', { found: undefined });
      }
      break;
    case 'settle':
      disk.withdraw();
      return then('held');
    case 'read': {
      const holder = disk.read();
      if (holder === undefined) return then('create');
      return disk.isAlive(holder) ? then('refuse', { by: { holder } }) : then('look', { found: holder });
    }
    case 'look': {
      const [rival] = [...disk.rivals()].sort();
      if (rival === undefined) return then('again');
      if (patience === 0) return then('refuse', { by: { claim: rival } });
      // The first by name stays and checks again; the others withdraw for it.
      return then(claim < rival ? 'look' : 'yield', { patience: patience - 1 });
    }
    case 'yield':
      disk.withdraw();
      return then('claim');
    case 'again':
      return then(disk.read() === found ? 'replace' : 'read');
    case 'replace':
      disk.replace();
      return then('held');
    case 'refuse':
      disk.withdraw();
      return then('refused');
    case 'held':
    case 'refused':
      return state;
  }
}
