/** Tables and unfinished training on disk: checkpoints of kind `embedding`. */
import {
  checkFits,
  type Checkpoint,
  type JsonObject,
  readCheckpoint,
  schemaVersion,
  writeCheckpoint,
} from '../../checkpoints/checkpoint.js';
import { type EmbeddingTable, meanEntityNorm } from '../../src/embedding/transe.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import type { Graph } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config.js';
import { matrix, unfit, values } from '../embeddings/table-tensors.js';
import type { TransESettings } from './settings.js';
import { createTransE, type TransEState } from './transe-state.js';

/** What one epoch logs, under the keys of the metric log. */
export interface EpochRecord {
  /** Epochs done. */
  step: number;
  metrics: Record<string, number>;
}

/** A table as it is kept, with how it came about. */
export interface SavedTable {
  /** Entity vectors have a mean L2 norm of 1. */
  table: EmbeddingTable;
  /** Of the table on the held-out triples; absent where nothing was held out. */
  metrics?: LinkMetrics;
  /** One record an epoch, so that a run that reuses the table logs the same. */
  history: EpochRecord[];
}

/** What a file belongs to; a file of other settings, seed or graph is refused. */
export interface TableIdentity {
  graph: Graph;
  settings: TransESettings;
  seed: number;
}

/** Writes a normalised table. Equal content gives equal bytes. */
export function writeTable(file: string, identity: TableIdentity, { table, metrics, history }: SavedTable): void {
  const { entities, relations } = table;
  writeCheckpoint(file, {
    header: header(identity, history.length, { history: history as unknown as JsonObject[] }, metrics),
    tensors: { entities: matrix(entities, table.dim), relations: matrix(relations, table.dim) },
  });
}

/**
 * Reads a table of `graph`. What it was trained with is in the file.
 * @throws WorkbenchError `data` for a file that is missing, damaged, of another graph, or not normalised
 */
export function readTable(file: string, graph: Graph): SavedTable {
  const { header, tensors } = readCheckpoint(file, { finite: true });
  checkFits(header, { graph: graph.hash }, file);
  const { norm, dim } = (header.config as { transe: TransESettings }).transe;
  const sizes = { numEntities: graph.numEntities, numRelations: graph.numRelations };
  const table: EmbeddingTable = {
    model: 'transe',
    norm,
    dim,
    ...sizes,
    entities: values(tensors.entities, Float32Array, sizes.numEntities * dim, file),
    relations: values(tensors.relations, Float32Array, sizes.numRelations * dim, file),
  };
  const scale = meanEntityNorm(table);
  if (Math.abs(scale - 1) > 1e-3) throw unfit('entity vectors of mean norm 1', scale.toFixed(4), file);
  const { n, ...shares } = header.metrics;
  const metrics = n === undefined ? undefined : ({ ...shares, n } as unknown as LinkMetrics);
  const { history } = header.trainer as unknown as { history: EpochRecord[] };
  return { table, ...(metrics && { metrics }), history };
}

/** The whole training state, to go on from later as if never stopped. */
export function trainingCheckpoint(identity: TableIdentity, state: TransEState, history: EpochRecord[]): Checkpoint {
  const { table, best, epoch, checksWithoutGain } = state;
  const { dim } = table;
  const trainer = {
    history,
    epoch,
    checksWithoutGain,
    best: best ? { epoch: best.epoch, metrics: best.metrics } : null,
  };
  return {
    header: header(identity, epoch, trainer as unknown as JsonObject),
    tensors: {
      entities: matrix(table.entities, dim),
      relations: matrix(table.relations, dim),
      'optimizer/entitySquares': { shape: [state.entitySquares.length], data: state.entitySquares },
      'optimizer/relationSquares': { shape: [state.relationSquares.length], data: state.relationSquares },
      ...(best && {
        'best/entities': matrix(best.entities, dim),
        'best/relations': matrix(best.relations, dim),
      }),
    },
  };
}

/**
 * The state in a `trainingCheckpoint`.
 * @param file what to call it in errors
 * @throws WorkbenchError `data` for one of another identity
 */
export function trainingOf(
  { header, tensors }: Checkpoint,
  identity: TableIdentity,
  file: string,
): { state: TransEState; history: EpochRecord[] } {
  const { graph, settings, seed } = identity;
  checkFits(header, { graph: graph.hash }, file);
  const wanted = configHash(configOf(identity));
  if (header.configHash !== wanted) throw unfit(`training of settings ${wanted}`, header.configHash, file);
  const { numEntities, numRelations } = graph;
  const { dim } = settings;
  const { history, epoch, checksWithoutGain, best } = header.trainer as unknown as {
    history: EpochRecord[];
    epoch: number;
    checksWithoutGain: number;
    best: { epoch: number; metrics: LinkMetrics } | null;
  };
  const rows = (prefix: string) => ({
    entities: values(tensors[`${prefix}entities`], Float32Array, numEntities * dim, file),
    relations: values(tensors[`${prefix}relations`], Float32Array, numRelations * dim, file),
  });
  const fresh = createTransE({ numEntities, numRelations, settings, seed });
  const state: TransEState = {
    epoch,
    checksWithoutGain,
    table: { ...fresh.table, ...rows('') },
    entitySquares: values(tensors['optimizer/entitySquares'], Float64Array, numEntities, file),
    relationSquares: values(tensors['optimizer/relationSquares'], Float64Array, numRelations, file),
    best: best ? { ...best, ...rows('best/') } : undefined,
  };
  return { state, history };
}

function header(
  identity: TableIdentity,
  epoch: number,
  trainer: JsonObject,
  metrics?: LinkMetrics,
): Checkpoint['header'] {
  const config = configOf(identity);
  return {
    schemaVersion,
    kind: 'embedding',
    config,
    configHash: configHash(config),
    hashes: { graph: identity.graph.hash },
    phase: 'transe',
    step: epoch,
    epoch,
    trainer,
    metrics: { ...metrics },
  };
}

function configOf({ settings, seed }: TableIdentity): JsonObject {
  return { transe: settings, seed };
}
