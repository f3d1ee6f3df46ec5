/** Trained agents of one run or several: where their weights lie, and what they are. */
import { createHash } from 'node:crypto';
import { resolveCheckpoint } from '../checkpoints/store.js';
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
