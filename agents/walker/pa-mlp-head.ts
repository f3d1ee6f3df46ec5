/** The plain head of LLM-ARK over the walker's batches: rows of `state-rows` go through the network of `pa-mlp-network`. */
import type { Tf } from '../../src/tensor/backend.js';
import { readTensor } from '../../src/tensor/ops.js';
import { edgeScorerOf } from './edge-scorers/create-edge-scorer.js';
import type { HeadShape, WalkerHead } from './head.js';
import { createPaMlpNetwork } from './pa-mlp-network.js';
import type { WalkerSettings } from './settings.js';
import type { StateBatch } from './state-batch.js';
import { createStateRows } from './state-rows.js';

/** Builds the plain head. @param seed what its weights start from; absent where others are imported into it */
export function createPaMlpHead(tf: Tf, settings: WalkerSettings, shape: HeadShape, seed?: number): WalkerHead {
  const { numRelations } = shape;
  const { relationDim } = shape.tables;
  const rows = createStateRows(settings, shape, true);
  // Staying and "none yet" have no frozen vector: zero, so that only the tail speaks for them.
  const relations = new Float32Array((numRelations + 2) * relationDim);
  relations.set(shape.tables.relations);
  const tables = { ...shape.tables, relations };
  const scorer = edgeScorerOf(tf, settings, { ...shape, tables });
  const { width, precision } = settings;
  const network = createPaMlpNetwork(tf, { stateDim: rows.dim, width, scorer, precision }, seed);
  const logits = (batch: StateBatch) => network.logits(rows.of(batch), batch);
  return {
    parameters: network.parameters,
    precision,
    logits,
    infer: (batch) => readTensor(tf, () => logits(batch)),
    ...(network.rank && { rank: (batch) => network.rank!(rows.of(batch), batch) }),
    weightsChanged: () => network.weightsChanged(),
    dispose: () => network.parameters.dispose(),
  };
}
