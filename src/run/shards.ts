/** Parts of a whole for several machines, each identified by its number. */
import { WorkbenchError } from './errors.js';

/** Part 1 of 1 is the whole. */
export interface Shard {
  /** From 1. */
  part: number;
  of: number;
}

/** @throws WorkbenchError `usage` for what is no part of a whole */
export function shardOf(text: string): Shard {
  const [part, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(text)?.slice(1).map(Number) ?? [];
  if (part !== undefined && of !== undefined && part >= 1 && part <= of) return { part, of };
  throw new WorkbenchError(
    'usage',
    `expected a part and how many, such as 2/8, got ${JSON.stringify(text)}, at --shard`,
    {
      hint: 'Parts count from 1: in a Slurm array --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT with --array=1-8.',
    },
  );
}

/** Places of a list that a shard has: from the first to before the second. Parts are neighbours, none longer than another by two. */
export function shardRange(count: number, { part, of }: Shard): [begin: number, end: number] {
  return [Math.floor(((part - 1) * count) / of), Math.floor((part * count) / of)];
}

/** Name of a shard in files and folders: `2-of-8`. */
export const shardName = ({ part, of }: Shard): string => `${part}-of-${of}`;

/** The other way; undefined for any other name. */
export function shardNamed(name: string): Shard | undefined {
  const [part, of] = /^(\d+)-of-(\d+)$/.exec(name)?.slice(1).map(Number) ?? [];
  return part !== undefined && of !== undefined ? { part, of } : undefined;
}
