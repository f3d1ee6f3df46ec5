/** Vectors of entities and relations that both states and edges are read by: frozen, or trained with the network. */
import { join } from 'node:path';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { encodeSafetensors, readSafetensors, type Tensor } from '../../checkpoints/safetensors.js';
import type { EdgeLists } from '../../envs/link-query/world.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { runFiles } from '../../src/run/run-files.js';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { frozenDots, lastTrainedDots, type TablePairs } from '../../src/tensor/table-dots.js';
import { gatherRows, type TensorOutputs } from '../../src/tensor/ops.js';
import { normalValues, type ParameterSet } from '../../src/tensor/parameters.js';
import type { FrozenVectors } from '../walker/features/dialogue-scratch.js';
import type { LinkWalkerSettings } from './settings.js';
import type { Edges } from '../walker/heads/edge-scorers.js';

type Tensor2D = tfTypes.Tensor2D;

/** Vectors to start from, those of inverses included. */
export type StartVectors = FrozenVectors;

export interface LinkWalkerShape {
  lists: EdgeLists;
  numEntities: number;
  /** Inverses included. */
  numRelations: number;
  /** With `vectors` other than `random`. */
  start?: StartVectors | undefined;
}

/** Without vectors to start from: normal numbers, which give vectors a length of about 1. */
type VectorTablesOptions = Omit<LinkWalkerShape, 'lists'> &
  Pick<LinkWalkerSettings, 'trainVectors' | 'vectorDim' | 'readEntities'>;

/** The tables. Relations have two rows more: staying, and "no step yet". */
export interface VectorTables {
  readonly dim: number;
  /** Numbers of an edge's: its relation's, and its entity's where entities have vectors. */
  readonly edgeDim: number;
  /** float32 [ids, dim]. */
  relations(ids: Int32Array): Tensor2D;
  /** float32 [ids, dim]; absent where entities have none. */
  entities?(ids: Int32Array): Tensor2D;
  /** Rows of `left`, [n, edgeDim], times the vectors of edges; see `lastTrainedDots`. */
  dots(left: Tensor2D, edges: Pick<Edges, 'stateOf' | 'relations' | 'tails'>): TensorOutputs<tfTypes.Tensor1D>;
}

interface LinkTable {
  name: 'relations' | 'entities';
  values: Float32Array;
  shape: [number, number];
}

/** Relations first, then entities where they have vectors. @param seed of what is drawn; zeros without it */
function linkTables(
  { numEntities, numRelations, trainVectors, vectorDim, readEntities, start }: VectorTablesOptions,
  seed?: number,
): LinkTable[] {
  const dim = start?.dim ?? vectorDim;
  const table = (name: LinkTable['name'], rows: number, given: Float32Array | undefined): LinkTable => {
    const drawn = seed !== undefined && (trainVectors || !given);
    const values = drawn
      ? normalValues(Rng.named(seed, `link-walker/${name}`), 1 / Math.sqrt(dim), rows * dim)
      : new Float32Array(rows * dim);
    if (given) values.set(given.subarray(0, rows * dim));
    return { name, values, shape: [rows, dim] };
  };
  return [
    table('relations', numRelations + 2, start?.relations.subarray(0, numRelations * dim)),
    ...(readEntities ? [table('entities', numEntities, start?.entities)] : []),
  ];
}

/** Adds the tables to the parameters where they are trained. @param seed of what is drawn; zeros without it */
export function createVectorTables(
  tf: Tf,
  parameters: ParameterSet,
  options: VectorTablesOptions,
  seed?: number,
): VectorTables {
  const tables = linkTables(options, seed);
  const dim = tables[0]!.shape[1];
  const made = options.trainVectors ? trained(tf, parameters, tables) : frozen(tf, tables, dim);
  const [relations, entities] = made.rows;
  return {
    dim,
    edgeDim: dim * tables.length,
    relations: relations!,
    entities,
    dots: (left, edges) => {
      const right = [edges.relations, edges.tails].slice(0, tables.length);
      return made.dots(left, { left: edges.stateOf, right });
    },
  };
}

interface MadeTables {
  rows: ((ids: Int32Array) => Tensor2D)[];
  dots(left: Tensor2D, pairs: TablePairs): TensorOutputs<tfTypes.Tensor1D>;
}

function trained(tf: Tf, parameters: ParameterSet, tables: readonly LinkTable[]): MadeTables {
  const variables = tables.map(
    ({ name, shape, values }) => parameters.add(`link.${name}`, shape, values) as unknown as Tensor2D,
  );
  return {
    rows: variables.map((variable) => (ids) => gatherRows(tf, variable, ids)),
    dots: (left, pairs) => lastTrainedDots(tf, left, variables, pairs),
  };
}

function frozen(tf: Tf, tables: readonly LinkTable[], dim: number): MadeTables {
  const rowsOf = ({ values }: LinkTable, ids: Int32Array) => {
    const rows = new Float32Array(ids.length * dim);
    for (let i = 0; i < ids.length; i++) rows.set(values.subarray(ids[i]! * dim, (ids[i]! + 1) * dim), i * dim);
    return tf.tensor2d(rows, [ids.length, dim]);
  };
  return {
    rows: tables.map((table) => (ids) => rowsOf(table, ids)),
    dots: frozenDots(tables.map(({ values }) => ({ values, width: dim }))),
  };
}

const vectorsFile = (runFolder: string) => join(runFiles(runFolder).embeddings, 'link-vectors.safetensors');

/** Writes them into the run, atomically. */
export function writeStartVectors(runFolder: string, { dim, entities, relations }: StartVectors): void {
  const table = (data: Float32Array): Tensor => ({ shape: [data.length / dim, dim], data });
  const tensors = new Map([
    ['entities', table(entities)],
    ['relations', table(relations)],
  ]);
  writeFileAtomic(vectorsFile(runFolder), encodeSafetensors({ tensors, metadata: new Map() }));
}

/**
 * @param sizes rows that the tables must have
 * @throws WorkbenchError `data` for a file that is missing, damaged, or of other sizes
 */
export function readStartVectors(
  runFolder: string,
  { numEntities, numRelations }: { numEntities: number; numRelations: number },
): StartVectors {
  const file = vectorsFile(runFolder);
  const { tensors } = readSafetensors(file, { finite: true, own: true });
  const table = (name: string, rows: number) => {
    const tensor = tensors.get(name);
    if (tensor?.data instanceof Float32Array && tensor.shape.length === 2 && tensor.shape[0]! >= rows) return tensor;
    const got = tensor ? `${tensor.data.constructor.name} [${tensor.shape.join()}]` : 'none';
    throw new WorkbenchError('data', `expected float32 ${name} of at least ${rows} rows, got ${got}, at ${file}`, {
      hint: 'Resume the run with `kgwalk train --resume`: it writes the file again.',
    });
  };
  const entities = table('entities', numEntities);
  const relations = table('relations', numRelations);
  const [ofEntities, ofRelations] = [entities.data, relations.data] as [Float32Array, Float32Array];
  return { dim: entities.shape[1]!, entities: ofEntities, relations: ofRelations };
}
