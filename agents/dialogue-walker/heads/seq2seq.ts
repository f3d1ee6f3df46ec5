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
import { Recurrent } from '../../../src/nn/recurrent.js';
import type { Taped } from '../../../src/nn/tape.js';
import type { WalkerSettings } from '../settings.js';
import type { HeadShape } from './head.js';
import { type EmbeddedNetwork, goldTails, marginLoss, ofStep, rowsOfHop, type Scene, type Starts } from './network.js';

export function seq2seqNetwork(
  { width, embeddingDim: d }: WalkerSettings,
  { horizon }: HeadShape,
  starts: Starts,
): EmbeddedNetwork {
  starts.add('seq2seq.context', width + d, width, true);
  starts.lstm('seq2seq.decoder', d, width);
  starts.add('seq2seq.out', width, d, true);
  /** Prediction of the next: [S, d]. */
  const aimsOf = ({ tape, batch, text, entities, local, dropped }: Scene) => {
    const decoder = new Recurrent(tape, 'lstm', 'seq2seq.decoder', width);
    const start = tape.rows(entities, local.start);
    const context = tape.layer(dropped(tape.concat([text, start])), 'seq2seq.context');
    const read = (hop: number) =>
      hop === 0 ? start : tape.rows(entities, ofStep(local.walked, batch.numStates, hop - 1));
    const outputs: Taped[] = [];
    for (let hop = 0, state = [context, context]; hop < horizon; hop++) {
      state = decoder.step(decoder.given(read(hop)), state);
      outputs.push(state[0]!);
    }
    return tape.layer(dropped(rowsOfHop(tape, outputs, batch)), 'seq2seq.out');
  };
  return {
    scores: (scene) => scene.tape.dots(aimsOf(scene), scene.batch.stateOf, scene.entities, scene.local.tails),
    margins: (scene, aims) =>
      marginLoss(scene.tape, aimsOf(scene), scene.entities, goldTails(scene, aims), scene.local.others),
  };
}
