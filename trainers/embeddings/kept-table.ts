/** Tables that are kept for later runs: read what is there, go on with what was left, else train. */
import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeCheckpoint, type Checkpoint } from '../../checkpoints/checkpoint.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { removeLeftovers } from '../../src/run/files.js';

/** How a kind of table is read and made. `Saved` is a table, `Begun` an unfinished training. */
export interface TableMaker<Saved, Begun> {
  /** @throws WorkbenchError for a file that is damaged or of something else: it is then made anew, as is what follows */
  read(file: string): Saved;
  resume(file: string): Begun;
  /**
   * Trains and writes the table.
   * @param save keeps an unfinished training, from which a later call goes on
   * @throws whatever stops it, after saving
   */
  train(file: string, begun: Begun | undefined, save: (state: Checkpoint) => void): Promise<void>;
}

/**
 * The table of a key.
 * @param folder where tables are kept
 * @param key names all that the table depends on, and becomes the name of its file
 */
export async function keptTable<Saved extends object, Begun>(
  folder: string,
  key: string,
  maker: TableMaker<Saved, Begun>,
): Promise<Saved & { file: string; reused: boolean }> {
  const file = join(folder, `${key}.safetensors`);
  const unfinished = join(folder, `${key}.unfinished.safetensors`);
  for (const written of [file, unfinished]) removeLeftovers(folder, basename(written));
  const saved = usable(file, () => maker.read(file));
  if (saved) {
    // A kill after the table was written and before this was removed leaves it.
    rmSync(unfinished, { force: true });
    return { ...saved, file, reused: true };
  }
  const begun = usable(unfinished, () => maker.resume(unfinished));
  await maker.train(file, begun, (state) => writeCheckpoint(unfinished, state));
  rmSync(unfinished, { force: true });
  // Read back, so that what a run logs and keeps does not depend on whether the table was there already.
  return { ...maker.read(file), file, reused: false };
}

/** What a kept file holds, or undefined where there is none or it is damaged: training again mends that. */
function usable<T>(file: string, read: () => T): T | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return read();
  } catch (error) {
    if (error instanceof WorkbenchError) return undefined;
    throw error;
  }
}
