/** Vectors of entities and relations that both states and edges are read by: frozen, or trained with the network. */
import type * as tfTypes from '@tensorflow/tfjs';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { frozenDots, type TablePairs, trainedDots } from '../../src/tensor/table-dots.js';
import { gatherRows } from '../../src/tensor/ops.js';
import { normalValues, type ParameterSet } from '../../src/tensor/parameters.js';

type Tensor2D = tfTypes.Tensor2D;

/** Vectors to start from. */
export interface StartVectors {
  dim: number;
  /** float32 [numEntities, dim]. */
  entities: Float32Array;
  /** float32 [numRelations, dim], inverses included. */
  relations: Float32Array;
}

/** Sizes, and where the vectors start. */
export interface LinkVectorsOptions {
  numEntities: number;
  /** Inverses included. */
  numRelations: number;
  /** Of a drawn vector. */
  dim: number;
  /** Whether they are parameters. */
  train: boolean;
  /** Whether entities have vectors at all. */
  readEntities: boolean;
  /** Default: normal numbers, which give vectors a length of about 1. */
  start?: StartVectors | undefined;
}

/** The tables. Relations have two rows more: staying, and "no step yet". */
export interface LinkVectors {
  /** Numbers of a relation's vector. */
  readonly dim: number;
  /** Numbers of an edge's: its relation's, and its entity's where entities have vectors. */
  readonly edgeDim: number;
  /** float32 [ids, dim]. */
  relations(ids: Int32Array): Tensor2D;
  /** float32 [ids, dim]; absent where entities have none. */
  entities?(ids: Int32Array): Tensor2D;
  /** Rows of `left`, [n, edgeDim], times the vectors of edges; see `trainedDots`. */
  dots(left: Tensor2D, edges: { stateOf: Int32Array; relations: Int32Array; tails: Int32Array }): tfTypes.Tensor1D;
}

/** Adds the tables to the parameters where they are trained. @param seed of what is drawn; zeros without it */
export function createLinkVectors(
  tf: Tf,
  parameters: ParameterSet,
  { numEntities, numRelations, train, readEntities, start, ...options }: LinkVectorsOptions,
  seed?: number,
): LinkVectors {
  const dim = start?.dim ?? options.dim;
  const table = (name: string, rows: number, given: Float32Array | undefined) => {
    const drawn = seed !== undefined && (train || !given);
    const values = drawn
      ? normalValues(Rng.named(seed, `link-walker/${name}`), 1 / Math.sqrt(dim), rows * dim)
      : new Float32Array(rows * dim);
    if (given) values.set(given.subarray(0, rows * dim));
    return { name, values, shape: [rows, dim] as [number, number] };
  };
  const tables = [
    table('relations', numRelations + 2, start?.relations.subarray(0, numRelations * dim)),
    ...(readEntities ? [table('entities', numEntities, start?.entities)] : []),
  ];
  const made = train ? trained(tf, parameters, tables) : frozen(tf, tables, dim);
  const [relations, entities] = made.rows;
  return {
    dim,
    edgeDim: dim * tables.length,
    relations: relations!,
    ...(entities && { entities }),
    dots: (left, edges) => {
      const right = [edges.relations, edges.tails].slice(0, tables.length);
      return made.dots(left, { left: edges.stateOf, right });
    },
  };
}

interface Table {
  name: string;
  values: Float32Array;
  shape: [number, number];
}

interface MadeTables {
  /** Reads rows of each table. */
  rows: ((ids: Int32Array) => Tensor2D)[];
  dots(left: Tensor2D, pairs: TablePairs): tfTypes.Tensor1D;
}

function trained(tf: Tf, parameters: ParameterSet, tables: readonly Table[]): MadeTables {
  const variables = tables.map(
    ({ name, shape, values }) => parameters.add(`link.${name}`, shape, values) as unknown as Tensor2D,
  );
  const dots = trainedDots(tf);
  return {
    rows: variables.map((variable) => (ids) => gatherRows(tf, variable, ids)),
    dots: (left, pairs) => dots(left, variables, pairs),
  };
}

function frozen(tf: Tf, tables: readonly Table[], dim: number): MadeTables {
  const rowsOf = ({ values }: Table, ids: Int32Array) => {
    const rows = new Float32Array(ids.length * dim);
    for (let i = 0; i < ids.length; i++) rows.set(values.subarray(ids[i]! * dim, (ids[i]! + 1) * dim), i * dim);
    return tf.tensor2d(rows, [ids.length, dim]);
  };
  return {
    rows: tables.map((table) => (ids) => rowsOf(table, ids)),
    dots: frozenDots(
      tf,
      tables.map(({ values }) => ({ values, width: dim })),
    ),
  };
}
