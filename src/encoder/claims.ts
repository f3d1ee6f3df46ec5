/** Who encodes what at the moment, so that runs over one cache share the work rather than each do all of it. */
import { pid } from 'node:process';
import type { Database, RootDatabase } from 'lmdb';
import { isRunning } from '../run/files.js';

/** Who holds a key, and until when at most. */
export interface Claim {
  process: number;
  /** Milliseconds since the epoch at which it started: a container gives its processes the same numbers again. */
  started: number;
  /** Milliseconds since the epoch. */
  until: number;
}

/** After this long a claim is over, whoever holds it: its number may belong to another process by now. */
const lifetime = 15 * 60_000;

/** The claims of one database; keys are those of the vectors. */
export interface Claims {
  /** Takes what no living process holds, all in one transaction. Returns which of the keys were had. */
  take(keys: readonly Buffer[]): Promise<boolean[]>;
  release(keys: readonly Buffer[]): Promise<void>;
}

/** @param table in the database `root`, for claims alone */
export function claimsIn(root: RootDatabase, table: Database<Claim, Buffer>): Claims {
  const own = { process: pid, started: Math.round(performance.timeOrigin) };
  const holds = ({ process, started, until }: Claim) =>
    until > Date.now() && (process === pid ? started === own.started : isRunning(process));

  return {
    take: (keys) =>
      root.transaction(() =>
        keys.map((key) => {
          const found = table.get(key);
          if (found !== undefined && holds(found)) return false;
          void table.put(key, { ...own, until: Date.now() + lifetime });
          return true;
        }),
      ),
    async release(keys) {
      await root.transaction(() => {
        // Kept and over, not removed: removing empties pages that a commit then counts and does not write, and a file that
        // ends before the last page counted looks like one that lost its end.
        for (const key of keys) void table.put(key, { ...own, until: 0 });
      });
    },
  };
}
