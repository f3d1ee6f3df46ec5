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
import type { Tf } from '../../../src/tensor/backend.js';
import type { WalkerSettings } from '../settings.js';
import { logFanOut } from '../features/edge-features.js';
import { type HeadShape, hopOf } from './head.js';
import { elements, type EmbeddedNetwork, type Layers } from './network.js';

export function diffKgNetwork(
  tf: Tf,
  { width, fanOut }: WalkerSettings,
  { numRelations, horizon, rows }: HeadShape,
  { add, dense }: Layers,
): EmbeddedNetwork {
  const choices = numRelations + 1;
  const fans = fanOut === 'ignored' ? undefined : logFanOut(rows);
  add('hops', width, horizon * choices, true);
  return {
    scores({ batch, text, dropped }) {
      const ofHops = batch.stateOf.map(
        (state, i) => (state * horizon + hopOf(batch, state)) * choices + batch.relations[i]!,
      );
      const logits = elements(tf, dense(dropped(text), 'hops'), ofHops);
      if (!fans) return logits;
      const { stateOf, current, actions, relations } = batch;
      const ofActions = Float32Array.from(actions, (action, i) =>
        relations[i] === numRelations ? 0 : fans[rows.offsets[current[stateOf[i]!]!]! + action]!,
      );
      return tf.sub(logits, tf.tensor1d(ofActions)) as tfTypes.Tensor1D;
    },
  };
}
