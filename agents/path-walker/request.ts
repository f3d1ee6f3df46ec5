/** Parts of an observation that a link walker keeps to score its actions now and in every later epoch. */
import type { EdgeLists, LinkQueryObservation } from '../../envs/link-query/world.js';
import type { Edges } from '../dialogue-walker/heads/edge-scorers.js';
import type { Actor } from '../../trainers/actor.js';

/** A state of a walk. */
export interface LinkRequest {
  readonly task: { readonly id: string };
  readonly head: number;
  readonly relation: number;
  readonly current: number;
  readonly hop: number;
  /** int32 [2 · hop]: relation and entity of each step; staying has the relation after the last. */
  readonly path: Int32Array;
  /** Length of the action list: out-edges, and staying as the last. */
  readonly length: number;
  /** int32: the legal actions, ascending; absent where all of the list are. */
  readonly legal?: Int32Array;
}

/** The policy as trainers and beams see it. */
export type LinkActor = Actor<LinkQueryObservation, LinkRequest>;

/** Copies what the environment may write to. */
export function linkRequestOf({ head, relation, current, hop, path, actionMask }: LinkQueryObservation): LinkRequest {
  const task = { id: `${head} ${relation}` };
  const state = { task, head, relation, current, hop, path: path.slice(), length: actionMask.length };
  return actionMask.includes(0) ? { ...state, legal: placesOf(actionMask) } : state;
}

/** Number of legal actions. */
export const numLegal = ({ legal, length }: LinkRequest): number => legal?.length ?? length;

/** The places of a mask's ones, ascending. Loops: an iterator over a hub's actions costs more than walking them. */
function placesOf(mask: Uint8Array): Int32Array {
  let count = 0;
  for (let i = 0; i < mask.length; i++) count += mask[i]!;
  const indices = new Int32Array(count);
  for (let i = 0, at = 0; at < count; i++) if (mask[i] === 1) indices[at++] = i;
  return indices;
}

interface RequestEdges extends Edges {
  stateOf: Int32Array;
  relations: Int32Array;
  tails: Int32Array;
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
  return { offsets, stateOf, actions, relations, tails };
}
