/** Legal actions of some states, side by side. */
import type { EdgeLists } from '../../envs/link-query-edges.js';
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
    for (let i = first; i < last; i++) {
      const action = legal ? legal[i - first]! : i - first;
      const stays = action === length - 1;
      stateOf[i] = state;
      actions[i] = action;
      relations[i] = stays ? stay : lists.relations[begin + action]!;
      tails[i] = stays ? current : lists.tails[begin + action]!;
    }
  }
  return { numStates: requests.length, offsets, stateOf, actions, relations, tails };
}
