/**
 * The plain head of LLM-ARK over the walker's batches. The state s is the dialogue's vectors with those of the start, the
 * current entity and the relations walked; `pa-mlp-network` is what it goes through.
 */
import type { Tf } from '../../src/tensor/backend.js';
import { readTensor } from '../../src/tensor/ops.js';
import { edgeScorerOf } from './edge-scorers/create-edge-scorer.js';
import type { HeadShape, WalkerHead } from './head.js';
import { createPaMlpNetwork } from './pa-mlp-network.js';
import type { WalkerSettings } from './settings.js';
import { stateScalars, type StateBatch } from './state-batch.js';

/** Builds the plain head. @param seed what its weights start from; absent where others are imported into it */
export function createPaMlpHead(tf: Tf, settings: WalkerSettings, shape: HeadShape, seed?: number): WalkerHead {
  const { numRelations, contextDim } = shape;
  const { entityDim, relationDim } = shape.tables;
  const stateDim = contextDim + 2 * entityDim + 2 * relationDim + stateScalars.length;
  // Staying and "none yet" have no frozen vector: zero, so that only the tail speaks for them.
  const relations = new Float32Array((numRelations + 2) * relationDim);
  relations.set(shape.tables.relations);
  const tables = { ...shape.tables, relations };
  const scorer = edgeScorerOf(tf, settings, { ...shape, tables });
  const network = createPaMlpNetwork(tf, { stateDim, width: settings.width, scorer }, seed);
  const logits = (batch: StateBatch) => network.logits(stateVectors(batch, tables, stateDim), batch);
  return {
    parameters: network.parameters,
    logits,
    infer: (batch) => readTensor(tf, () => logits(batch)),
    ...(network.rank && { rank: (batch) => network.rank!(stateVectors(batch, tables, stateDim), batch) }),
    weightsChanged: () => network.weightsChanged(),
    dispose: () => network.parameters.dispose(),
  };
}

function stateVectors(
  batch: StateBatch,
  { entities, entityDim, relations, relationDim }: HeadShape['tables'],
  stateDim: number,
): Float32Array {
  const contextDim = batch.context.length / batch.numStates;
  const states = new Float32Array(batch.numStates * stateDim);
  for (let s = 0; s < batch.numStates; s++) {
    let at = s * stateDim;
    const write = (table: Float32Array, row: number, width: number) => {
      states.set(table.subarray(row * width, (row + 1) * width), at);
      at += width;
    };
    write(batch.context, s, contextDim);
    write(entities, batch.start[s]!, entityDim);
    write(entities, batch.current[s]!, entityDim);
    write(relations, batch.lastRelation[s]!, relationDim);
    write(relations, batch.previousPathRelation[s]!, relationDim);
    write(batch.scalars, s, stateScalars.length);
  }
  return states;
}
