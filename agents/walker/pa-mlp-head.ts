/**
 * The plain head of LLM-ARK: g = W3·tanh(W2·tanh(W1·s)), logit(r, t) = g · [R[r] ; E[t]], with frozen edge vectors.
 * The state s is the dialogue's vectors with those of the start, the current entity and the relations walked.
 * @source LLM-ARK (Huang 2024), section 3.3; no biases, orthogonal starts with gain 1 and 0.01
 */
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { matMul, matMulConst, pairDot, readTensor } from '../../src/tensor/ops.js';
import { orthogonalValues, ParameterSet } from '../../src/tensor/parameters.js';
import type * as tfTypes from '@tensorflow/tfjs';
import type { HeadShape, WalkerHead } from './head.js';
import { createLocalEntities, hostRows } from './local-rows.js';
import type { WalkerSettings } from './settings.js';
import { stateScalars, type StateBatch } from './state-batch.js';

/** Builds the plain head, initialised from `seed`. */
export function createPaMlpHead(tf: Tf, settings: WalkerSettings, shape: HeadShape, seed: number): WalkerHead {
  const { tables, numRelations, contextDim } = shape;
  const { entityDim, relationDim } = tables;
  const stateDim = contextDim + 2 * entityDim + 2 * relationDim + stateScalars.length;
  const parameters = new ParameterSet(tf);
  const layer = (name: string, rows: number, columns: number, gain: number) =>
    parameters.add(name, [rows, columns], orthogonalValues(Rng.named(seed, `walker/${name}`), rows, columns, gain));
  layer('pa.1', stateDim, settings.width, 1);
  layer('pa.2', settings.width, settings.width, 1);
  layer('pa.out', settings.width, relationDim + entityDim, 0.01);
  // Staying and "none yet" have no frozen vector: zero, so that only the tail speaks for them.
  const relationTable = new Float32Array((numRelations + 2) * relationDim);
  relationTable.set(tables.relations);
  const relations = tf.keep(tf.tensor2d(relationTable, [numRelations + 2, relationDim]));
  const localise = createLocalEntities(tables.entities.length / entityDim);
  const weight = (name: string) => parameters.get(name) as unknown as tfTypes.Tensor2D;

  const logits = (batch: StateBatch): tfTypes.Tensor1D => {
    const local = localise(batch);
    const entities = tf.tensor2d(hostRows(tables.entities, entityDim, local.ids), [local.ids.length, entityDim]);
    const state = tf.tensor2d(stateVectors(batch, tables, relationTable, stateDim), [batch.numStates, stateDim]);
    const first = tf.tanh(matMulConst(tf, state, weight('pa.1'))) as tfTypes.Tensor2D;
    const second = tf.tanh(matMul(tf, first, weight('pa.2'))) as tfTypes.Tensor2D;
    const out = matMul(tf, second, weight('pa.out'));
    const toRelation = tf.slice(out, [0, 0], [batch.numStates, relationDim]);
    const toTail = tf.slice(out, [0, relationDim], [batch.numStates, entityDim]);
    return tf.add(
      pairDot(tf, toRelation, relations, batch.stateOf, batch.relations),
      pairDot(tf, toTail, entities, batch.stateOf, local.tails),
    ) as tfTypes.Tensor1D;
  };

  return {
    parameters,
    logits,
    infer: (batch) => readTensor(tf, () => logits(batch)),
    weightsChanged: () => {},
    dispose: () => {
      relations.dispose();
      parameters.dispose();
    },
  };
}

function stateVectors(
  batch: StateBatch,
  tables: HeadShape['tables'],
  relationTable: Float32Array,
  stateDim: number,
): Float32Array {
  const { entities, entityDim, relationDim } = tables;
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
    write(relationTable, batch.lastRelation[s]!, relationDim);
    write(relationTable, batch.previousPathRelation[s]!, relationDim);
    write(batch.scalars, s, stateScalars.length);
  }
  return states;
}
