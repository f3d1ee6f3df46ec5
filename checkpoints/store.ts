/** The checkpoints folder of a run: files, an index that points at the best, the last and the clone, and their keeping. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { writeFileAtomic } from '../src/run/files.js';
import { readJsonFile } from '../src/run/read-json.js';
import { phases } from '../src/run/records.js';
import { runFiles } from '../src/run/run-files.js';
import { type Checkpoint, writeCheckpoint } from './checkpoint.js';
import { statedSealOf } from './safetensors.js';
import {
  type CheckpointEntry,
  type CheckpointSettings,
  choosePointers,
  compareEntries,
  mainFigureOf,
  type Pointer,
  survivors,
} from './keeper.js';

/** A checkpoint of a run and where it lies. */
export interface StoredCheckpoint extends CheckpointEntry {
  /** Phase and step, such as `ppo-000120`. */
  name: string;
  file: string;
  /** The sha256 that the file carries. */
  seal: string;
}

/** The checkpoints of a run, in the order they were reached, with the ones that have names. */
export interface CheckpointIndex extends Partial<Record<Pointer, StoredCheckpoint>> {
  checkpoints: StoredCheckpoint[];
}

const indexFile = z.object({
  schemaVersion: z.literal(1),
  checkpoints: z.array(
    z.object({
      phase: z.enum(phases),
      step: z.number().int().nonnegative(),
      metrics: z.record(z.string(), z.number()),
      interim: z.boolean().optional(),
      seal: z.string(),
    }),
  ),
});

/** Files written by this module, including temporary names. */
const ownFile = new RegExp(`^(${phases.join('|')})-\\d{6,}\\.safetensors$|^\\..+\\.tmp$`);

/** The name of the checkpoint of a phase and step: `ppo-000120`. */
export function checkpointName({ phase, step }: Pick<CheckpointEntry, 'phase' | 'step'>): string {
  return `${phase}-${String(step).padStart(6, '0')}`;
}

/**
 * Writes a checkpoint into the run, then the index, then removes what does not stay. Checkpoints at or after its phase
 * and step are dropped: they are of a future that was left when the run was resumed from an earlier one.
 *
 * With `interim` it was written because the user stopped the run, outside its schedule: it is `last` until the next is
 * saved, then it goes, so that a run that was stopped and resumed keeps what one that was not stopped keeps.
 * @param runFolder the run's folder; `checkpoints/` is made in it
 */
export function saveCheckpoint(
  runFolder: string,
  checkpoint: Checkpoint,
  settings: Pick<CheckpointSettings, 'keepLast' | 'keepEvery'>,
  { interim = false } = {},
): StoredCheckpoint {
  const { phase, step, metrics } = checkpoint.header;
  const file = fileOf(runFolder, { phase, step });
  writeCheckpoint(file, checkpoint);
  // The seal is the last key of an entry.
  const entry = {
    ...stored(runFolder, { phase, step, metrics, ...(interim && { interim }) }),
    seal: statedSealOf(file)!,
  };
  const known = readIndex(runFolder).checkpoints;
  const earlier = known.filter((other) => compareEntries(other, entry) < 0 && !other.interim);
  const checkpoints = interim ? [...earlier, entry] : survivors([...earlier, entry], settings);
  writeIndex(runFolder, checkpoints);
  return entry;
}

/**
 * Drops the checkpoints for which `keep` is false: later ones, when a run resumes from an earlier one.
 * A kill in between leaves an index that names complete files.
 */
export function dropCheckpoints(runFolder: string, keep: (entry: StoredCheckpoint) => boolean): void {
  const { checkpoints } = readIndex(runFolder);
  const kept = checkpoints.filter(keep);
  if (kept.length < checkpoints.length) writeIndex(runFolder, kept);
}

function writeIndex(runFolder: string, checkpoints: readonly StoredCheckpoint[]): void {
  const pointers = Object.entries(choosePointers(checkpoints)).map(([pointer, to]) => [pointer, checkpointName(to)]);
  const listed = checkpoints.map(({ file: _file, ...rest }) => rest);
  const index = { schemaVersion: 1, ...(Object.fromEntries(pointers) as object), checkpoints: listed };
  writeFileAtomic(join(runFiles(runFolder).checkpoints, 'index.json'), `${JSON.stringify(index, null, 2)}\n`);
  // By name, not by the old index: a kill between the steps above leaves files outside the index.
  const names = new Set(checkpoints.map(({ name }) => `${name}.safetensors`));
  for (const file of readdirSync(runFiles(runFolder).checkpoints)) {
    if (ownFile.test(file) && !names.has(file)) rmSync(join(runFiles(runFolder).checkpoints, file));
  }
}

/** The checkpoints of a run; an empty index where none was saved yet. @throws {WorkbenchError} `data` on a damaged index */
export function readIndex(runFolder: string): CheckpointIndex {
  const file = join(runFiles(runFolder).checkpoints, 'index.json');
  if (!existsSync(file)) return { checkpoints: [] };
  const hint = 'Restore the file from a copy, or train again in another folder.';
  const content = readJsonFile(file, indexFile, 'an index of checkpoints', hint);
  const checkpoints = content.checkpoints.map((entry) => stored(runFolder, entry)).sort(compareEntries);
  return { checkpoints, ...choosePointers(checkpoints) };
}

/**
 * Figure that chose the best checkpoint of a run, and its value on valid; undefined where nothing was evaluated.
 * @throws {WorkbenchError} `data` on a damaged index
 */
export function bestOnValid(runFolder: string): { metric: string; score: number } | undefined {
  const { metrics = {} } = readIndex(runFolder).best ?? {};
  const metric = mainFigureOf(metrics);
  return metric === undefined ? undefined : { metric, score: metrics[metric]! };
}

/**
 * Finds a checkpoint of a run.
 * @param which `best`, `last`, `clone`, a name such as `ppo-000120`, or a step: of PPO where it has that one, else of cloning
 * @throws {WorkbenchError} `data` where there is none, naming those there are
 */
export function resolveCheckpoint(runFolder: string, which: string): StoredCheckpoint {
  const { checkpoints, ...pointers } = readIndex(runFolder);
  const found = Object.hasOwn(pointers, which)
    ? pointers[which as Pointer]
    : checkpoints.findLast(({ name, step }) => name === which || String(step) === which);
  if (found && existsSync(found.file)) return found;
  const have = [...Object.keys(pointers), ...checkpoints.map(({ name }) => name)].join(', ');
  const got = found ? `no file ${found.file}` : have ? `only ${have}` : 'a run that saved none yet';
  throw new WorkbenchError('data', `expected checkpoint "${which}", got ${got}, at ${runFolder}`, {
    hint: have ? 'See `kgwalk checkpoint list RUN`.' : 'Train it, or resume its training, first.',
  });
}

function stored<Entry extends CheckpointEntry>(runFolder: string, entry: Entry) {
  return { ...entry, name: checkpointName(entry), file: fileOf(runFolder, entry) };
}

function fileOf(runFolder: string, at: Pick<CheckpointEntry, 'phase' | 'step'>): string {
  return join(runFiles(runFolder).checkpoints, `${checkpointName(at)}.safetensors`);
}
