/**
 * Sequence to sequence, the baseline that walkers of dialogues are compared with: an LSTM that starts from the dialogue reads
 * the entities walked so far, and its output meets the entity that each edge leads to. Relations do not enter: parallel
 * edges are equals.
 *
 *   x = W [text ; E[start]] + w        (h₀, c₀) = (x, x)        (h_t, c_t) = LSTM(E[v_{t−1}], h_{t−1}, c_{t−1})
 *   logit(r, n) = (Z h_t + z) · E[n]            by margins: ℓ(Z h_t + z, E[v_t])
 *
 * @source Sutskever, Vinyals and Le 2014; as a walker: Moon et al. 2019 (OpenDialKG), section 5
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Tf } from '../../../src/tensor/backend.js';
import { gatherRows } from '../../../src/tensor/ops.js';
import { pairDot } from '../../../src/tensor/table-dots.js';
import type { WalkerSettings } from '../settings.js';
import type { HeadShape } from './head.js';
import { type EmbeddedNetwork, goldTails, type Layers, marginLoss, ofStep, rowsOfHop, type Scene } from './network.js';

export function seq2seqNetwork(
  tf: Tf,
  { width, embeddingDim: d }: WalkerSettings,
  { horizon }: HeadShape,
  layers: Layers,
): EmbeddedNetwork {
  layers.add('seq2seq.context', width + d, width, true);
  const decoder = layers.lstm('seq2seq.decoder', d, width);
  layers.add('seq2seq.out', width, d, true);
  /** Prediction of the next: float32 [S, d]. */
  const aimsOf = ({ batch, text, entities, local, dropped }: Scene) => {
    const start = gatherRows(tf, entities, local.start);
    const context = layers.dense(dropped(tf.concat([text, start], 1)), 'seq2seq.context');
    const read = (hop: number) =>
      hop === 0 ? start : gatherRows(tf, entities, ofStep(local.walked, batch.numStates, hop - 1));
    const outputs: tfTypes.Tensor2D[] = [];
    for (let hop = 0, state = [context, context]; hop < horizon; hop++) {
      state = decoder.step(decoder.given(read(hop)), state);
      outputs.push(state[0]!);
    }
    return layers.dense(dropped(rowsOfHop(tf, outputs, batch)), 'seq2seq.out');
  };
  return {
    scores: (scene) => pairDot(tf, aimsOf(scene), scene.entities, scene.batch.stateOf, scene.local.tails),
    margins: (scene, aims) => marginLoss(tf, aimsOf(scene), scene.entities, goldTails(scene, aims), scene.local.others),
  };
}
