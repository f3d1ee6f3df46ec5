/** The ranking loss of walkers that aim at vectors: what is aimed at must come before what is drawn out of the whole graph. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Rng } from '../../../src/run/seeds.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows, pairDot, relu } from '../../../src/tensor/ops.js';
import type { HeadShape } from './head.js';
import type { Aims, Scene } from './network.js';

type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

/** Entities, and relations, that are drawn for each state. */
const negatives = 20;

/** Draws for each state, evenly from the whole graph; golds are not left out. @returns entities too */
export function drawnAims(
  golds: Int32Array,
  { numEntities, numRelations }: Pick<HeadShape, 'numEntities' | 'numRelations'>,
  rng: Rng,
): Aims & { entities: Int32Array } {
  const drawn = (count: number) => Int32Array.from({ length: golds.length * negatives }, () => rng.integer(count));
  return { golds, entities: drawn(numEntities), relations: drawn(numRelations) };
}

/**
 * ℓ(x, y) = Σ_j max(0, ỹ_j · y + x · (ỹ_j − y)), float32 [S].
 * @param aims float32 [S, d]: x
 * @param table rows of golds and negatives
 * @param golds int32 [S]: rows of y
 * @param others int32 [S · negatives]: rows of ỹ
 * @source Moon, Shah, Kumar and Subba 2019 (OpenDialKG), section 4.3
 */
export function marginLoss(tf: Tf, aims: Tensor2D, table: Tensor2D, golds: Int32Array, others: Int32Array): Tensor1D {
  const numStates = golds.length;
  const aimed = gatherRows(tf, table, golds);
  const states = Int32Array.from(others, (_, i) => Math.floor(i / negatives));
  const towardsOthers = pairDot(tf, tf.add(aims, aimed), table, states, others);
  const towardsGold = tf.sum(tf.mul(aims, aimed), 1, true);
  const excess = tf.sub(tf.reshape(towardsOthers, [numStates, negatives]), towardsGold);
  return tf.sum(relu(tf, excess), 1);
}

/** Entities that golds lead to, as rows of the batch. */
export const goldTails = ({ local }: Pick<Scene, 'local'>, { golds }: Aims) => golds.map((i) => local.tails[i]!);
