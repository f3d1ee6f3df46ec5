/**
 * How a lock is taken, one look at or change of the disk a step, so that a test can try every interleaving of several processes
 * and every moment of death (`test/src/run/lock-steps.long.test.ts`).
 *
 * The lock is one file, made by a link, which fails where one is. A dead process's lock stands until it is replaced by one rename,
 * and who replaces it is agreed by claims: each process has a claim, a file with a unique name, before it looks
 * at anything. It replaces the lock only after it saw no other living claim and then the dead lock once more; where the file system
 * has no links, no lock is taken in the same way. Of two processes one
 * made its claim before the other one looked: the other one sees it and waits, or, where the claim is gone, sees the new lock that
 * the claim became in one rename. So no live lock is ever moved, replaced or removed by anybody but its holder; what dead processes
 * leave are claims, and no claim name is used twice, so that any process may remove them.
 */

/** Operations of a step, each one system call. */
export interface LockDisk {
  /** Creates this process's claim. */
  claim(): void;
  /** Removes this process's claim, if present. */
  withdraw(): void;
  /**
   * Links the claim to the lock and keeps the claim; false if a lock exists, undefined if the file system has no links.
   */
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
