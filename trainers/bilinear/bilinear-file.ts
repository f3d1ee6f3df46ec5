/** Bilinear tables and unfinished training on disk: checkpoints of kind `embedding`. */
import {
  checkFits,
  readCheckpoint,
  schemaVersion,
  writeCheckpoint,
  type Checkpoint,
  type JsonObject,
} from '../../checkpoints/checkpoint.js';
import type { BilinearTable } from '../../src/embedding/bilinear.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import type { Graph } from '../../src/kg/graph.js';
import { configHash } from '../../src/run/config.js';
import { matrix, unfit, values } from '../embeddings/table-tensors.js';
import type { BilinearState } from './bilinear-state.js';
import type { BilinearSettings } from './settings.js';

/** What a file belongs to; a file of other settings, seed or graph is refused. */
export interface BilinearIdentity {
  graph: Graph;
  settings: BilinearSettings;
  seed: number;
}

/** A table as it is kept, and its figures on valid, where it has triples. */
export interface SavedBilinear {
  table: BilinearTable;
  metrics: LinkMetrics | undefined;
}

/** Writes a table. Equal content gives equal bytes. */
export function writeBilinear(file: string, identity: BilinearIdentity, epoch: number, saved: SavedBilinear): void {
  const { table, metrics } = saved;
  writeCheckpoint(file, {
    header: { ...header(identity, epoch, {}), metrics: { ...metrics } },
    tensors: { entities: matrix(table.entities, table.dim), relations: matrix(table.relations, table.dim) },
  });
}

/** Reads a table of a graph. @throws WorkbenchError `data` for a file that is missing, damaged or of another graph */
export function readBilinear(file: string, graph: Graph): SavedBilinear {
  const { header, tensors } = readCheckpoint(file, { finite: true });
  checkFits(header, { graph: graph.hash }, file);
  const { bilinear } = header.config as { bilinear?: BilinearSettings };
  if (bilinear === undefined) throw unfit('a table of DistMult or ComplEx', 'another', file);
  const { numEntities, numRelations } = graph;
  const { model, dim } = bilinear;
  const { n, ...shares } = header.metrics;
  return {
    table: {
      ...{ model, dim, numEntities, numRelations },
      entities: values(tensors.entities, Float32Array, numEntities * dim, file),
      relations: values(tensors.relations, Float32Array, numRelations * dim, file),
    },
    metrics: n === undefined ? undefined : ({ ...shares, n } as unknown as LinkMetrics),
  };
}

/** The whole training state, to go on from later as if never stopped. */
export function bilinearCheckpoint(identity: BilinearIdentity, state: BilinearState): Checkpoint {
  const { table, best, epoch, checksWithoutGain } = state;
  const { dim, entities, relations } = table;
  const trainer = { epoch, checksWithoutGain, best: best ? { epoch: best.epoch, metrics: best.metrics } : null };
  return {
    header: header(identity, epoch, trainer as unknown as JsonObject),
    tensors: {
      entities: matrix(entities, dim),
      relations: matrix(relations, dim),
      'optimizer/entitySquares': matrix(state.entitySquares, dim),
      'optimizer/relationSquares': matrix(state.relationSquares, dim),
      ...(best && { 'best/entities': matrix(best.entities, dim), 'best/relations': matrix(best.relations, dim) }),
    },
  };
}

/**
 * The state in a `bilinearCheckpoint`.
 * @param file what to call it in errors
 * @throws WorkbenchError `data` for one of another identity
 */
export function bilinearStateOf(
  { header, tensors }: Checkpoint,
  { graph, settings, seed }: BilinearIdentity,
  file: string,
): BilinearState {
  checkFits(header, { graph: graph.hash }, file);
  const wanted = configHash({ bilinear: settings, seed });
  if (header.configHash !== wanted) throw unfit(`training of settings ${wanted}`, header.configHash, file);
  const { numEntities, numRelations } = graph;
  const { model, dim } = settings;
  const read = (name: string, rows: number) => values(tensors[name], Float32Array, rows * dim, file);
  const rows = (prefix: string) => ({
    entities: read(`${prefix}entities`, numEntities),
    relations: read(`${prefix}relations`, numRelations),
  });
  const { epoch, checksWithoutGain, best } = header.trainer as unknown as {
    epoch: number;
    checksWithoutGain: number;
    best: { epoch: number; metrics: LinkMetrics } | null;
  };
  return {
    epoch,
    checksWithoutGain,
    table: { model, dim, numEntities, numRelations, ...rows('') },
    entitySquares: read('optimizer/entitySquares', numEntities),
    relationSquares: read('optimizer/relationSquares', numRelations),
    best: best ? { ...best, ...rows('best/') } : undefined,
  };
}

function header({ graph, settings, seed }: BilinearIdentity, epoch: number, trainer: JsonObject): Checkpoint['header'] {
  const config = { bilinear: settings, seed };
  return {
    schemaVersion,
    kind: 'embedding',
    config,
    configHash: configHash(config),
    hashes: { graph: graph.hash },
    phase: 'bilinear',
    step: epoch,
    epoch,
    trainer,
    metrics: {},
  };
}
