/**
 * Hash chain of a run: the index records the sha256 of each checkpoint; a checkpoint its settings, the sha256 of the tables
 * it was trained with, and that of the log so far. Any swapped file, even an intact one, is detected.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { decisiveSettings, diffConfig, valueAt } from '../src/run/config-values.js';
import { WorkbenchError } from '../src/run/errors.js';
import { checkEvaluationSeal, evaluationRecord } from '../src/run/evaluation.js';
import { refuseSpecial, sha256FileSync } from '../src/run/files.js';
import { checkLogMark } from '../src/run/json-lines.js';
import { readRunProvenance } from '../src/run/provenance.js';
import { readJsonFile } from '../src/run/read-json.js';
import type { RunInfo } from '../src/run/records.js';
import { evaluationFiles, runFiles } from '../src/run/run-files.js';
import { openRun } from '../src/run/run-folder.js';
import { type CheckpointHeader, readCheckpoint, type ReadCheckpoint } from './checkpoint.js';
import { type ReadOptions, readSafetensors, statedSealOf } from './safetensors.js';
import { readIndex, resolveCheckpoint, type StoredCheckpoint } from './store.js';

/** sha256 of the files that weights are trained with, by path in the run: its `embeddings`, and the walks of a teacher. */
export function filesBeside(runFolder: string): Record<string, string> {
  const { embeddings, teacher } = runFiles(runFolder);
  const tables = existsSync(embeddings) ? readdirSync(embeddings, { withFileTypes: true }) : [];
  const own = tables
    .filter((one) => one.isFile() && !one.name.startsWith('.'))
    .map(({ name }) => join(embeddings, name));
  const files = [...own.sort(), ...(existsSync(teacher) ? [teacher] : [])];
  return Object.fromEntries(files.map((file) => [pathIn(runFolder, file), hashOf(file)]));
}

const pathIn = (runFolder: string, file: string): string => relative(runFolder, file).split(sep).join('/');

/** Hash stated inside a table, which its reader verifies; for other files the hash of their bytes. */
function hashOf(file: string): string {
  const table = 'a table of a run';
  refuseSpecial(file, table);
  const stated = file.endsWith('.safetensors') ? statedSealOf(file) : undefined;
  return stated ?? sha256FileSync(file, table);
}

/** A checkpoint of a run that fits its index, settings and tables. */
export interface ChainedCheckpoint extends ReadCheckpoint {
  entry: StoredCheckpoint;
}

/**
 * Reads a checkpoint of a run and compares it with what the run knows of it.
 * @param which `best`, `last`, `clone`, a name or a step, or what the index says of it
 * @throws WorkbenchError `data` where it is missing, damaged, or of another run
 */
export function readRunCheckpoint(
  runFolder: string,
  which: string | StoredCheckpoint,
  options: ReadOptions = {},
): ChainedCheckpoint {
  const entry = typeof which === 'string' ? resolveCheckpoint(runFolder, which) : which;
  const checkpoint = readCheckpoint(entry.file, options);
  const { header, seal } = checkpoint;
  if (entry.seal !== seal) {
    const known = `the checkpoint whose sha256 the index names (${entry.seal.slice(0, 8)})`;
    throw swapped(known, seal.slice(0, 8), entry.file);
  }
  if (header.phase !== entry.phase || header.step !== entry.step) {
    throw swapped(`${entry.phase} of step ${entry.step}`, `${header.phase} of step ${header.step}`, entry.file);
  }
  checkSettings(openRun(runFolder), header, entry.file);
  checkFiles(runFolder, header);
  return { ...checkpoint, entry };
}

/** Settings that may change: training length, paths and backend do not affect the meaning of weights. */
const mayDiffer = ['ppo.updates', 'ppo.patience', 'policy.totalSteps', 'encoder.model', 'backend'];

/** A fork begins, at step 0, with weights of other settings; keys that one of the two versions did not have are not compared. */
function checkSettings({ config }: RunInfo, { config: trained, kind, step }: CheckpointHeader, file: string): void {
  if (kind !== 'walker' || step === 0) return;
  const other = diffConfig(decisiveSettings(trained), decisiveSettings(config)).find(
    (key) => !mayDiffer.includes(key) && valueAt(trained, key) !== undefined && valueAt(config, key) !== undefined,
  );
  if (other === undefined) return;
  const text = (settings: unknown) => `${other}=${JSON.stringify(valueAt(settings, other))}`;
  throw swapped(`a checkpoint trained under the settings of the run, ${text(config)}`, text(trained), file);
}

/** Missing files are recreated, or reported by their reader; existing ones must be unchanged. */
function checkFiles(runFolder: string, { files = {} }: CheckpointHeader): void {
  for (const [path, known] of Object.entries(files)) {
    const file = join(runFolder, path);
    if (!existsSync(file)) continue;
    const found = hashOf(file);
    if (found === known) continue;
    throw swapped(`the file that the weights were trained with (${known.slice(0, 8)})`, found.slice(0, 8), file);
  }
}

/**
 * Compares the log of an inactive run with the record of its last checkpoint. A run without checkpoints has nothing to compare.
 * @throws WorkbenchError `data` for a truncated or altered log
 */
export function checkLog({ folder, state }: RunInfo): void {
  const { last } = readIndex(folder);
  if (state.status === 'running' || !last || !existsSync(last.file)) return;
  const { header } = readRunCheckpoint(folder, last);
  checkLogUntil(folder, header);
  // Lines after the last checkpoint belong to a stopped run.
  const [whole, known] = [statSync(runFiles(folder).metrics).size, Number(header.trainer.metricsBytes ?? 0)];
  if (state.status === 'finished' && known > 0 && whole > known) {
    throw swapped(`a log of ${known} bytes`, `${whole}`, runFiles(folder).metrics);
  }
}

function checkLogUntil(runFolder: string, { trainer: { metricsBytes = 0, metricsSha256 } }: CheckpointHeader): void {
  const mark = { bytes: Number(metricsBytes), sha256: metricsSha256 as string | undefined };
  checkLogMark(runFiles(runFolder).metrics, mark);
}

/**
 * Compares the evaluations in a run's folder with their seals, and those of a checkpoint that is still there with its weights.
 * @returns how many there are
 * @throws WorkbenchError `data` for the first that was altered, or is of other weights
 */
export function checkEvaluations({ folder }: RunInfo): number {
  const { evaluations } = runFiles(folder);
  const names = existsSync(evaluations) ? readdirSync(evaluations).sort() : [];
  const found = names
    .map((name) => join(evaluations, name))
    .filter((one) => existsSync(evaluationFiles(one).evaluation));
  const { checkpoints } = readIndex(folder);
  const weights = new Map<string, string>();
  for (const one of found) {
    checkEvaluationSeal(one);
    const record = readJsonFile(evaluationFiles(one).evaluation, evaluationRecord, 'an evaluation of this version');
    const { run, phase, step, hashes } = record;
    const entry = checkpoints.find((known) => known.phase === phase && known.step === step);
    // One that says whose it is, is of several runs, or of another.
    if (run !== undefined || hashes.checkpoint === undefined || !entry || !existsSync(entry.file)) continue;
    const own = weights.get(entry.name) ?? sha256FileSync(entry.file);
    weights.set(entry.name, own);
    if (own === hashes.checkpoint) continue;
    const got = `one of other weights (${hashes.checkpoint.slice(0, 8)})`;
    throw new WorkbenchError(
      'data',
      `expected an evaluation of ${entry.name} (${own.slice(0, 8)}), got ${got}, at ${one}`,
      { hint: 'It was copied from elsewhere, or the run was retrained since: evaluate again, or delete the folder.' },
    );
  }
  return found.length;
}

/** Numbers of verified parts of a run; each table carries its own sha256. */
export type Verified = Record<'checkpoints' | 'tables' | 'evaluations', number>;

/**
 * Compares the files of a run with its records: every checkpoint, every table, the settings, the log up to each
 * checkpoint, the sources, and the evaluations.
 * @throws WorkbenchError `data` for the first mismatch
 */
export function verifyRun(nameOrFolder: string): Verified {
  const run = openRun(nameOrFolder);
  const { folder } = run;
  const { checkpoints } = readIndex(folder);
  for (const entry of checkpoints) {
    const { header } = readRunCheckpoint(folder, entry);
    if (run.state.status !== 'running') checkLogUntil(folder, header);
  }
  checkLog(run);
  const tables = Object.keys(filesBeside(folder)).filter((path) => path.endsWith('.safetensors'));
  for (const path of tables) readSafetensors(join(folder, path), { own: true });
  readRunProvenance(run);
  return { checkpoints: checkpoints.length, tables: tables.length, evaluations: checkEvaluations(run) };
}

function swapped(expected: string, got: string, place: string): WorkbenchError {
  return new WorkbenchError('data', `expected ${expected}, got ${got}, at ${place}`, {
    hint: 'The file was put there from elsewhere, or altered: put it back as it was. `kgwalk runs verify RUN` compares all.',
  });
}
