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
import type { WalkerSettings } from '../settings.js';
import { logFanOut } from '../features/edge-features.js';
import { type HeadShape, hopOf } from './head.js';
import { elements, type EmbeddedNetwork, type Starts } from './network.js';

export function diffKgNetwork(
  { width, fanOut }: WalkerSettings,
  { numRelations, horizon, rows }: HeadShape,
  starts: Starts,
): EmbeddedNetwork {
  const choices = numRelations + 1;
  const fans = fanOut === 'ignored' ? undefined : logFanOut(rows);
  starts.add('hops', width, horizon * choices, true);
  return {
    scores({ tape, batch, text, dropped }) {
      const { stateOf, current, actions, relations } = batch;
      const ofHops = stateOf.map((state, i) => (state * horizon + hopOf(batch, state)) * choices + relations[i]!);
      const logits = elements(tape, tape.layer(dropped(text), 'hops'), ofHops);
      if (!fans) return logits;
      const ofActions = Float32Array.from(actions, (action, i) =>
        relations[i] === numRelations ? 0 : fans[rows.offsets[current[stateOf[i]!]!]! + action]!,
      );
      return tape.add(logits, tape.constant(ofActions, 1), -1);
    },
  };
}
