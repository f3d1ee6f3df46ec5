/**
 * KG-CRuSE: an LSTM reads the dialogue and the walk so far, and what it makes of them meets each edge by one dot product.
 *
 *   h = LSTM(C · text, [E[start] ; R[none]], [E[v1] ; R[r1]], …)     x = L3 · relu(L2 · relu(L1 · h))
 *   logit(r, t) = x · [E[t] ; R[r]] / √(2 d)
 *
 * @source Sarkar et al. 2022, KG-CRuSE, and its public code; differences: docs/methods/dialogue-walker.md
 */
import { Recurrent } from '../../../src/nn/recurrent.js';
import type { Taped } from '../../../src/nn/tape.js';
import type { WalkerSettings } from '../settings.js';
import type { HeadShape } from './head.js';
import { type EmbeddedNetwork, longestWalk, ofStep, rowsOfHop, type Scene, type Starts } from './network.js';

export function kgCruseNetwork(
  { width, embeddingDim: d, recurrentLayers, recurrentUnits: units }: WalkerSettings,
  { numRelations }: HeadShape,
  starts: Starts,
): EmbeddedNetwork {
  const names = Array.from({ length: recurrentLayers }, (_, i) => `walk.${i + 1}`);
  starts.add('said', width, 2 * d, true);
  names.forEach((name, i) => starts.lstm(name, i === 0 ? 2 * d : units, units));
  starts.add('state.1', units, width, true);
  starts.add('state.2', width, width, true);
  starts.add('state.3', width, 2 * d, true);

  /** [S, units], after the last step that each walk has taken: what was said comes first, then the start and the steps. */
  const walked = ({ tape, batch, text, entities, relations, local, dropped }: Scene) => {
    const { numStates } = batch;
    const stack = names.map((name) => new Recurrent(tape, 'lstm', name, units));
    let states = stack.map((layer) => layer.start(numStates));
    const read = (input: Taped) => {
      let rows = dropped(input);
      states = stack.map((layer, i) => {
        const next = layer.step(layer.given(rows), states[i]!);
        rows = dropped(next[0]!);
        return next;
      });
      return rows;
    };
    const readEdge = (ofEntities: Int32Array, ofRelations: Int32Array) =>
      read(tape.concat([tape.rows(entities, ofEntities), tape.rows(relations, ofRelations)]));
    read(tape.layer(text, 'said'));
    const ends = [readEdge(local.start, new Int32Array(numStates).fill(numRelations + 1))];
    for (let step = 0; step < longestWalk(batch); step++) {
      ends.push(readEdge(ofStep(local.walked, numStates, step), ofStep(batch.walkedRelations, numStates, step)));
    }
    return rowsOfHop(tape, ends, batch);
  };

  return {
    scores(scene) {
      const { tape, batch, entities, relations, local, dropped } = scene;
      const first = dropped(tape.layer(walked(scene), 'state.1', 'relu'));
      const state = tape.layer(dropped(tape.layer(first, 'state.2', 'relu')), 'state.3');
      const scale = 1 / Math.sqrt(2 * d);
      const parts = [
        [entities, local.tails],
        [relations, batch.relations],
      ] as const;
      return tape.dotsOfParts(state, batch.stateOf, parts, scale);
    },
  };
}
