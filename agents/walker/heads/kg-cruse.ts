/**
 * KG-CRuSE: an LSTM reads the dialogue and the walk so far, and what it makes of them meets each edge by one dot product.
 *
 *   h = LSTM(C · text, [E[start] ; R[none]], [E[v1] ; R[r1]], …)     x = L3 · relu(L2 · relu(L1 · h))
 *   logit(r, t) = x · [E[t] ; R[r]] / √(2 d)
 *
 * @source Sarkar et al. 2022, KG-CRuSE, and its public code; differences: docs/dialogue-walkers.md
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../../src/tensor/backend.js';
import { columns, gatherRows, matMul, relu } from '../../../src/tensor/ops.js';
import { pairDot } from '../../../src/tensor/table-dots.js';
import type { WalkerSettings } from '../settings.js';
import type { HeadShape } from './head.js';
import {
  type EmbeddedNetwork,
  type Layers,
  longestWalk,
  ofStep,
  pickRelations,
  rowsOfHop,
  type Scene,
} from './network.js';

type Tensor2D = tfTypes.Tensor2D;

export function kgCruseNetwork(
  tf: Tf,
  { width, embeddingDim: d, recurrentLayers, recurrentUnits: units }: WalkerSettings,
  { numRelations }: HeadShape,
  layers: Layers,
): EmbeddedNetwork {
  const { dense } = layers;
  layers.add('said', width, 2 * d, true);
  const stack = Array.from({ length: recurrentLayers }, (_, i) =>
    layers.lstm(`walk.${i + 1}`, i === 0 ? 2 * d : units, units),
  );
  layers.add('state.1', units, width, true);
  layers.add('state.2', width, width, true);
  layers.add('state.3', width, 2 * d, true);

  /** float32 [S, units], after the last step that each walk has taken: what was said comes first, then the start and the steps. */
  const walked = ({ batch, text, entities, relations, local, dropped }: Scene) => {
    const { numStates } = batch;
    const sideBySide = (ofEntities: Int32Array, ofRelations: Int32Array) =>
      tf.concat([gatherRows(tf, entities, ofEntities), gatherRows(tf, relations, ofRelations)], 1) as Tensor2D;
    let states = stack.map((layer) => layer.start(numStates));
    const read = (input: Tensor2D) => {
      let rows = dropped(input);
      states = stack.map((layer, i) => {
        const next = layer.step(layer.given(rows), states[i]!);
        rows = dropped(next[0]!);
        return next;
      });
      return rows;
    };
    read(dense(text, 'said'));
    const ends = [read(sideBySide(local.start, new Int32Array(numStates).fill(numRelations + 1)))];
    for (let step = 0; step < longestWalk(batch); step++) {
      ends.push(
        read(sideBySide(ofStep(local.walked, numStates, step), ofStep(batch.walkedRelations, numStates, step))),
      );
    }
    return rowsOfHop(tf, ends, batch);
  };

  return {
    scores(scene) {
      const { batch, entities, relations, local, dropped } = scene;
      const first = dropped(relu(tf, dense(walked(scene), 'state.1')));
      const second = dropped(relu(tf, dense(first, 'state.2')));
      const state = dense(second, 'state.3');
      const byTail = pairDot(tf, columns(tf, state, 0, d), entities, batch.stateOf, local.tails);
      const toRelations = matMul(tf, columns(tf, state, d, d), tf.transpose(relations));
      return tf.mul(tf.add(byTail, pickRelations(tf, toRelations, batch)), 1 / Math.sqrt(2 * d)) as tfTypes.Tensor1D;
    },
  };
}
