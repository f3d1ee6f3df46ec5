/** Edges by their vectors: logit(r, t) = g · [R[r] ; E[t]], with tables that are frozen or trained. */
import { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { frozenDots, trainedDots } from '../../../src/tensor/table-dots.js';
import { hostValues } from '../../../src/tensor/ops.js';
import { xavierUniform } from '../../../src/tensor/parameters.js';
import { addRowDots } from '../../../src/tensor/row-dots.js';
import type * as tfTypes from '@tensorflow/tfjs';
import type { FrozenTables } from '../frozen-tables.js';
import { roundingOf } from '../precision.js';
import type { WalkerSettings } from '../settings.js';
import type { Edges, MakeEdgeScorer } from './edge-scorer.js';

type Tensor2D = tfTypes.Tensor2D;

/** @param tables with a row for every relation that edges have; read in place */
export function frozenVectors(tf: Tf, tables: FrozenTables): MakeEdgeScorer {
  const { entities, entityDim, relations, relationDim } = tables;
  const dots = frozenDots(tf, [
    { values: relations, width: relationDim },
    { values: entities, width: entityDim },
  ]);
  return () => ({
    layer: { name: 'pa.out', width: relationDim + entityDim },
    logits: (outputs, edges) => dots(outputs, { left: edges.stateOf, right: [edges.relations, edges.tails] }),
    rank: (outputs, edges) => Promise.resolve(hostDots(outputs, edges, tables)),
    weightsChanged: () => {},
  });
}

/** Sizes of trained tables, and the numbers that the forward pass reads them as. */
export interface TrainedVectorsOptions extends Partial<Pick<WalkerSettings, 'precision'>> {
  numEntities: number;
  /** Rows of relations, that of staying included. */
  numRelations: number;
  /** Of an entity's vector and of a relation's. */
  dim: number;
}

/**
 * Tables that are parameters. A step's time and memory grow with both tables, since Adam moves every row at every step by
 * the momentum it has.
 * @source LLM-ARK (Huang 2024), section 4.6, the ablation without TransE
 */
export function trainedVectors(
  tf: Tf,
  { numEntities, numRelations, dim, precision = 'f32' }: TrainedVectorsOptions,
): MakeEdgeScorer {
  const round = roundingOf(tf, precision);
  const dots = trainedDots(tf);
  return (parameters, seed) => {
    const table = (name: string, rows: number) => {
      const values =
        seed === undefined ? new Float32Array(rows * dim) : xavierUniform(Rng.named(seed, `walker/${name}`), rows, dim);
      return parameters.add(name, [rows, dim], values) as unknown as Tensor2D;
    };
    const relations = table('pa.relations', numRelations);
    const entities = table('pa.entities', numEntities);
    const read = async () => ({
      relations: await hostValues(tf, relations),
      relationDim: dim,
      entities: await hostValues(tf, entities),
      entityDim: dim,
    });
    let onHost: Promise<FrozenTables> | undefined;
    return {
      layer: { name: 'pa.out', width: 2 * dim },
      logits: (outputs, edges) =>
        dots(outputs, [round(relations), round(entities)], {
          left: edges.stateOf,
          right: [edges.relations, edges.tails],
        }),
      rank: async (outputs, edges) => hostDots(outputs, edges, await (onHost ??= read())),
      weightsChanged: () => (onHost = undefined),
    };
  };
}

function hostDots(
  { values, stride }: { values: Float32Array; stride: number },
  { stateOf, relations, tails }: Edges,
  tables: FrozenTables,
): Float32Array {
  const logits = new Float32Array(stateOf.length);
  const add = (column: number, table: Float32Array, width: number, right: Int32Array) => {
    const rows = { values: table, stride: width, column: 0 };
    addRowDots(logits, { values, stride, column }, rows, { width, left: stateOf, right });
  };
  add(0, tables.relations, tables.relationDim, relations);
  add(tables.relationDim, tables.entities, tables.entityDim, tails);
  return logits;
}
