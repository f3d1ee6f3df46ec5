/** What a walker of link queries keeps of an observation: enough to score its actions now and in every later epoch. */
import type { LinkQueryObservation } from '../../envs/link-query/world.js';

/** A state of a walk. */
export interface LinkRequest {
  readonly task: { readonly id: string };
  /** Entity id: where the walk began. */
  readonly head: number;
  /** Relation id that is asked for. */
  readonly relation: number;
  /** Entity id: where the walk stands. */
  readonly current: number;
  /** Steps taken. */
  readonly hop: number;
  /** int32 [2 · hop]: relation and entity of each step; staying has the relation after the last. */
  readonly path: Int32Array;
  /** Length of the action list: out-edges, and staying as the last. */
  readonly length: number;
  /** int32: the legal actions, ascending; absent where all of the list are. */
  readonly legal?: Int32Array;
}

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
  const places = new Int32Array(count);
  for (let i = 0, at = 0; at < count; i++) if (mask[i] === 1) places[at++] = i;
  return places;
}
