/** Legal actions of some states, side by side. */
import type { EdgeLists } from '../../envs/link-query/world.js';
import type { Edges } from '../walker/edge-scorers/edge-scorer.js';
import { numLegal, type LinkRequest } from './request.js';

/** Edges with the place where each state's begin. */
export interface RequestEdges extends Edges {
  /** int32 [states + 1]. */
  offsets: Int32Array;
}

/** Staying leads to where the walk stands, by the relation `stay`. O(actions). */
export function edgesOf(lists: EdgeLists, requests: readonly LinkRequest[], stay: number): RequestEdges {
  const offsets = new Int32Array(requests.length + 1);
  requests.forEach((request, i) => (offsets[i + 1] = offsets[i]! + numLegal(request)));
  const count = offsets.at(-1)!;
  const [stateOf, actions, relations, tails] = [0, 0, 0, 0].map(() => new Int32Array(count)) as [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  for (let state = 0; state < requests.length; state++) {
    const { current, length, legal } = requests[state]!;
    const begin = lists.offsets[current]!;
    const first = offsets[state]!;
    const last = offsets[state + 1]!;
    stateOf.fill(state, first, last);
    if (legal) actions.set(legal, first);
    else for (let i = first; i < last; i++) actions[i] = i - first;
    for (let i = first; i < last; i++) {
      const edge = begin + actions[i]!;
      relations[i] = lists.relations[edge]!;
      tails[i] = lists.tails[edge]!;
    }
    // Staying is the last action, and always legal.
    if (actions[last - 1] === length - 1) {
      relations[last - 1] = stay;
      tails[last - 1] = current;
    }
  }
  return { numStates: requests.length, offsets, stateOf, actions, relations, tails };
}
