/** Trained agents of one run or several: where their weights lie, and what they are. */
import { createHash } from 'node:crypto';
import { resolveCheckpoint } from '../checkpoints/store.js';
import { WorkbenchError } from '../src/run/errors.js';
import { sha256File } from '../src/run/files.js';
import { membersOf, type Trained } from './task.js';

/** Folders and checkpoints of its runs, in their order. */
export const foldersOf = (trained: Trained) =>
  membersOf(trained).map(({ run, checkpoint }) => ({ folder: run.folder, checkpoint }));

/** sha256 (hex) of the weights; of several runs over theirs, in their order. */
export async function weightsOf(trained: Trained): Promise<string> {
  const hashes: string[] = [];
  for (const { folder, checkpoint } of foldersOf(trained)) {
    hashes.push(await sha256File(resolveCheckpoint(folder, checkpoint).file));
  }
  return hashes.length === 1 ? hashes[0]! : createHash('sha256').update(hashes.join()).digest('hex');
}

/** @throws WorkbenchError `usage` for several runs, where one alone can answer. @param what it walks, in words */
export function onlyOne({ run, checkpoint, others }: Trained, what: string): Pick<Trained, 'run' | 'checkpoint'> {
  if (!others) return { run, checkpoint };
  throw new WorkbenchError('usage', `expected one run of ${what}, got ${others.length + 1} as one`, {
    hint: 'Walkers over dialogues and over link queries, and policies, are averaged. Name one run.',
  });
}
