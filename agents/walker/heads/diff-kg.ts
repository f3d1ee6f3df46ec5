/**
 * The walk of DiffKG: one distribution over relations for every hop, all read from the text before the walk begins; staying is
 * one of the relations. Tails of a relation tie.
 *
 *   P_t = softmax over relations of W_t·text
 *   logit(r, n) = ln P_t[r] − ln fan(v, r), fan the edges of relation r at v; with `fanOut=ignored` ln P_t[r] alone
 *
 * Divided by the fan-out it is a distribution over the relations that are there and a uniform tail. Ignored, every edge is
 * multiplied by its relation's probability before all are normalised, as published: a relation with 100 tails has 100 times the
 * mass of one with a single tail.
 * @source Tuan et al. 2022 (DiffKG), Findings of ACL; Pascalson/DiffKG-Dialog
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { AdjacencyRows } from '../../../src/kg/adjacency.js';
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows } from '../../../src/tensor/ops.js';
import type { WalkerSettings } from '../settings.js';
import { type HeadShape, hopOf, type StateBatch } from './head.js';
import type { EmbeddedNetwork, Layers } from './network.js';

export function diffKgNetwork(
  tf: Tf,
  { width, fanOut }: WalkerSettings,
  { numRelations, horizon, rows, noReturn }: HeadShape,
  { add, dense }: Layers,
): EmbeddedNetwork {
  // Staying is the relation after the graph's own.
  const choices = numRelations + 1;
  add('hops', width, horizon * choices, true);
  return {
    scores({ batch, text, dropped }) {
      const all = tf.reshape(dense(dropped(text), 'hops'), [-1, choices]) as tfTypes.Tensor2D;
      const ofHops = batch.stateOf.map(
        (state, i) => (state * horizon + hopOf(batch, state)) * choices + batch.relations[i]!,
      );
      const logits = tf.reshape(gatherRows(tf, tf.reshape(all, [-1, 1]), ofHops), [-1]) as tfTypes.Tensor1D;
      return fanOut === 'ignored'
        ? logits
        : (tf.sub(logits, tf.tensor1d(logFanOut(rows, batch, noReturn))) as tfTypes.Tensor1D);
    },
  };
}

/**
 * float32 [N]: ln of how many legal edges with an action's relation leave where its state stands; 0 for staying.
 * @param noReturn whether edges into the start are illegal
 */
export function logFanOut(
  { offsets, relations, tails }: AdjacencyRows,
  { start, current, stateOf, relations: chosen }: Pick<StateBatch, 'start' | 'current' | 'stateOf' | 'relations'>,
  noReturn = false,
): Float32Array {
  /** First edge of an entity with that relation or one above. */
  const firstOf = (entity: number, relation: number) => {
    let [low, high] = [offsets[entity] ?? 0, offsets[entity + 1] ?? 0];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (relations[middle]! < relation) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const logs = new Float32Array(stateOf.length);
  for (let i = 0; i < logs.length; i++) {
    const entity = current[stateOf[i]!]!;
    if (i > 0 && stateOf[i - 1] === stateOf[i] && chosen[i - 1] === chosen[i]) {
      logs[i] = logs[i - 1]!;
      continue;
    }
    const [first, end] = [firstOf(entity, chosen[i]!), firstOf(entity, chosen[i]! + 1)];
    let fan = end - first;
    for (let edge = first; noReturn && edge < end; edge++) if (tails[edge] === start[stateOf[i]!]) fan--;
    logs[i] = Math.log(Math.max(1, fan));
  }
  return logs;
}
