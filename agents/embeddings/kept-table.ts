/** Tables of vectors and their unfinished training state on disk, kept for later runs. */
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  checkFits,
  schemaVersion,
  writeCheckpoint,
  type Checkpoint,
  type JsonObject,
} from '../../checkpoints/checkpoint.js';
import type { Tensor } from '../../checkpoints/safetensors.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config-values.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { removeLeftovers } from '../../src/run/files.js';
import { kgwalkHome } from '../../src/run/locations.js';
import { silentProgress, type ProgressReporter } from '../../src/run/progress.js';
import { madeFrom, unknownSources } from '../../src/run/provenance.js';
import { lockedFile } from '../../src/run/run-lock.js';
import { throwIfStopped } from '../../src/run/stop.js';
import type { Trial } from '../../trainers/session.js';
import type { EpochSettings, TableResult, TableState, TableTraining, VectorTable } from './epochs.js';

/** Identity of a file; files of other settings, seed or graph are refused. */
export type TableIdentity<Settings> = { graph: Graph; settings: Settings; seed: number };

type Section = 'transe' | 'bilinear';

/** Header of a table or its unfinished training state. @param section of the settings, also the name of the phase */
export function tableHeader(
  section: Section,
  { graph, settings, seed }: TableIdentity<object>,
  epoch: number,
  trainer: object,
  metrics?: LinkMetrics,
): Checkpoint['header'] {
  const config = { [section]: settings, seed } as JsonObject;
  return {
    schemaVersion,
    kind: 'embedding',
    config,
    configHash: configHash(config),
    hashes: { graph: graph.hash },
    phase: section,
    step: epoch,
    epoch,
    trainer: trainer as JsonObject,
    metrics: { ...metrics },
  };
}

/** Table with its absolute path, from which a run copies it into its folder. */
export type Kept<Saved> = Saved & { file: string; reused: boolean };

/** File of imported vectors. @param name as in settings */
export const importedFile = (name: string, folder: string): string => join(folder, `imported-${name}.safetensors`);

/**
 * Table of another program, recorded with unknown sources.
 * @throws WorkbenchError `data` if no table has that name, or as `read` for one of another graph
 */
export function importedTable<Saved extends object>(
  name: string,
  graph: Graph,
  folder: string,
  read: (file: string) => Saved,
): Kept<Saved> {
  const file = importedFile(name, folder);
  if (!existsSync(file)) {
    throw new WorkbenchError('data', `expected imported vectors named ${name}, got none, at ${file}`, {
      hint: 'Bring them by `kgwalk embeddings import`.',
    });
  }
  madeFrom('embedding', `${name}, imported`, { graph: graph.hash, ...unknownSources });
  return { ...read(file), file, reused: true };
}

/** Metrics of a header; absent if nothing was held out. */
export function metricsOf({ metrics: { n, ...shares } }: Checkpoint['header']): LinkMetrics | undefined {
  return n === undefined ? undefined : ({ ...shares, n } as unknown as LinkMetrics);
}

/** Whole training state, from which training resumes exactly. @param more of the trainer, put first */
export function trainingCheckpoint(
  section: Section,
  identity: TableIdentity<object>,
  state: TableState,
  more: object = {},
): Checkpoint {
  const { table, entitySquares, relationSquares, best, epoch, checksWithoutGain } = state;
  const { dim } = table;
  const chosen = best ? { epoch: best.epoch, metrics: best.metrics } : null;
  const squares = (data: Float32Array | Float64Array) =>
    data instanceof Float64Array ? { shape: [data.length], data } : matrix(data, dim);
  return {
    header: tableHeader(section, identity, epoch, { ...more, epoch, checksWithoutGain, best: chosen }),
    tensors: {
      ...tableTensors(table),
      'optimizer/entitySquares': squares(entitySquares),
      'optimizer/relationSquares': squares(relationSquares),
      ...(best && { 'best/entities': matrix(best.entities, dim), 'best/relations': matrix(best.relations, dim) }),
    },
  };
}

/**
 * Reads the state of a `trainingCheckpoint`.
 * @param fresh state with the expected types and lengths
 * @param file name in errors
 * @throws WorkbenchError `data` for one of another identity
 */
export function trainingOf<Table extends VectorTable, Squares extends Float32Array | Float64Array>(
  { header, tensors }: Checkpoint,
  section: Section,
  { graph, settings, seed }: TableIdentity<object>,
  fresh: TableState<Table, Squares>,
  file: string,
): TableState<Table, Squares> {
  checkFits(header, { graph: graph.hash }, file);
  const wanted = configHash({ [section]: settings, seed });
  if (header.configHash !== wanted) throw unfit(`training of settings ${wanted}`, header.configHash, file);
  const { table, entitySquares, relationSquares } = fresh;
  const rows = (prefix: string) => ({
    entities: valuesLike(table.entities, tensors[`${prefix}entities`], file),
    relations: valuesLike(table.relations, tensors[`${prefix}relations`], file),
  });
  const { epoch, checksWithoutGain, best } = header.trainer as unknown as {
    epoch: number;
    checksWithoutGain: number;
    best: { epoch: number; metrics: LinkMetrics } | null;
  };
  return {
    epoch,
    checksWithoutGain,
    table: { ...table, ...rows('') },
    entitySquares: valuesLike(entitySquares, tensors['optimizer/entitySquares'], file),
    relationSquares: valuesLike(relationSquares, tensors['optimizer/relationSquares'], file),
    best: best ? { ...best, ...rows('best/') } : undefined,
  };
}

/** Vectors of a table as tensors. */
export function tableTensors({ entities, relations, dim }: VectorTable): Record<string, Tensor> {
  return { entities: matrix(entities, dim), relations: matrix(relations, dim) };
}

/** Reads the vectors of a file. @throws WorkbenchError `data` if they are absent, of another type or length */
export const readVectors = (
  tensors: Checkpoint['tensors'],
  { numEntities, numRelations }: Graph,
  dim: number,
  file: string,
) => ({
  dim,
  numEntities,
  numRelations,
  entities: values(tensors.entities, Float32Array, numEntities * dim, file),
  relations: values(tensors.relations, Float32Array, numRelations * dim, file),
});

const matrix = (data: Float32Array, dim: number): Tensor => ({ shape: [data.length / dim, dim], data });

function values<T extends Float32Array | Float64Array>(
  tensor: Tensor | undefined,
  type: new (length: number) => T,
  length: number,
  file: string,
): T {
  if (tensor?.data instanceof type && tensor.data.length === length) return tensor.data;
  throw unfit(`${length} values of ${type.name}`, tensor ? `${tensor.data.length}` : 'none', file);
}

/** Values of a tensor, of the type and length of `like`. */
function valuesLike<T extends Float32Array | Float64Array>(like: T, tensor: Tensor | undefined, file: string): T {
  return values(tensor, like.constructor as new (length: number) => T, like.length, file);
}

/** Error of a file with other content. */
export function unfit(expected: string, got: string, file: string): WorkbenchError {
  return new WorkbenchError('data', `expected ${expected}, got ${got}, at ${file}`, {
    hint: 'Delete the file and pretrain again.',
  });
}

/** sha256 (hex) over the ids, in their order. */
export function hashOfTriples({ heads, relations, tails }: TripleColumns): string {
  const hash = createHash('sha256');
  for (const { buffer, byteOffset, byteLength } of [heads, relations, tails]) {
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest('hex');
}

interface TableMaker<Saved, State extends TableState> {
  /** @throws WorkbenchError for a file that is damaged or of something else: the table is then trained again */
  read(file: string): Saved;
  resume(file: string): State;
  train(begun: State | undefined, callbacks: TrainingCallbacks<State>): Promise<TableResult<State>>;
  /** Training state to save. */
  checkpoint(state: State): Checkpoint;
  write(file: string, result: TableResult<State>): void;
  settings: EpochSettings;
  /** Progress display: a name, and the number and unit of an epoch's items. */
  shown: { name: string; perEpoch: number; unit: string };
}

type TrainingCallbacks<State extends TableState> = Required<
  Pick<TableTraining<State>, 'onProgress' | 'onEpoch' | 'signal'>
>;

/** Default folder of tables: `embeddings` in `KGWALK_HOME`. */
export const usualFolder = () => join(kgwalkHome(), 'embeddings');

/** Folder of tables, progress and stop signal. */
export interface KeptTableOptions {
  folder: string;
  progress?: ProgressReporter | undefined;
  /** Once aborted, the epoch is finished and the state saved; the next call with equal options resumes. */
  signal?: AbortSignal | undefined;
  /** A table that is not kept yet is trained for some epochs only and written to another folder. */
  trial?: Pick<Trial, 'isEnough' | 'folder'> | undefined;
}

/**
 * Table of a key: the kept one, else a trained one, resumed from an earlier unfinished call.
 * @param key names everything the table depends on, and is the name of its file
 * @throws WorkbenchError `stopped` once the signal is aborted, after saving
 */
export async function keptTable<Saved extends object, State extends TableState>(
  key: string,
  maker: TableMaker<Saved, State>,
  options: KeptTableOptions,
): Promise<Kept<Saved>> {
  const { signal, trial } = options;
  const isKept = existsSync(join(options.folder, `${key}.safetensors`));
  const folder = trial && !isKept ? trial.folder : options.folder;
  const file = join(folder, `${key}.safetensors`);
  const lock = join(folder, `${key}.lock`);
  // Runs that start together, such as those of a sweep, train a table once: the others wait and reuse it. A process
  // killed after writing the table leaves its lock, which the next call removes.
  const release = existsSync(file) && !existsSync(lock) ? undefined : await lockedFile(lock, signal);
  try {
    return await foundOrTrained(file, join(folder, `${key}.unfinished.safetensors`), maker, { ...options, folder });
  } finally {
    release?.();
  }
}

async function foundOrTrained<Saved extends object, State extends TableState>(
  file: string,
  unfinished: string,
  maker: TableMaker<Saved, State>,
  { folder, progress = silentProgress, signal, trial }: KeptTableOptions,
): Promise<Kept<Saved>> {
  for (const written of [file, unfinished]) removeLeftovers(folder, basename(written));
  const saved = usable(file, () => maker.read(file));
  if (saved) {
    // Left by a kill between writing the table and removing this file.
    rmSync(unfinished, { force: true });
    return { ...saved, file, reused: true };
  }
  const begun = usable(unfinished, () => maker.resume(unfinished));
  const { epochs, evalEvery } = maker.settings;
  const { name, perEpoch, unit } = maker.shown;
  const bar = progress(name, epochs * perEpoch, unit, (begun?.epoch ?? 0) * perEpoch);
  const save = (state: State) => writeCheckpoint(unfinished, maker.checkpoint(state));
  let note = '';
  const tried = new AbortController();
  const result = await maker.train(begun, {
    signal: AbortSignal.any(signal ? [signal, tried.signal] : [tried.signal]),
    onProgress: (done) => bar.update(done, note),
    onEpoch({ epoch, loss, metrics }, state) {
      note = `loss ${loss.toFixed(3)}${metrics ? ` · MRR ${metrics.mrr.toFixed(3)}` : ''}`;
      if (trial?.isEnough()) tried.abort();
      // A kill loses only the epochs since the last validation, and a validation takes longer than this write.
      if (epoch % evalEvery === 0 && epoch < epochs) save(state);
    },
  });
  bar.finish(note);
  if (result.stopped && !tried.signal.aborted) {
    save(result.state);
    throwIfStopped(signal);
  }
  maker.write(file, result);
  rmSync(unfinished, { force: true });
  // Read back, so that a run's logs and files do not depend on whether the table was kept already.
  return { ...maker.read(file), file, reused: false };
}

/** Content of a kept file; undefined if missing or damaged, which training again repairs. */
function usable<T>(file: string, read: () => T): T | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return read();
  } catch (error) {
    if (error instanceof WorkbenchError) return undefined;
    throw error;
  }
}
