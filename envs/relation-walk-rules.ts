/**
 * The rules of a walk over relations, as pure functions: which actions a state has, where each leads, when the walk
 * ends. `step`, greedy, beam and lookups all call these, so training and evaluation can never see different action sets.
 *
 * Action `i < numRelations` takes relation `i` from the whole frontier at once; action `numRelations` is STOP. Legal are
 * the relations that lead to something that may be reached (topics may not, but where the data set says so), and STOP
 * behind the first of them.
 */
import type { FrontierNode } from './frontier-trie.js';

/** What may be done in a walk over relations. */
export interface RelationWalkRules {
  /** Relations a walk may take; at least 1. */
  horizon: number;
  /**
   * `learned`: the walk ends when STOP is chosen. `given`: after as many relations as the task says, and STOP is legal
   * only where no relation is; tasks that do not say are walked as `learned`.
   */
  hops: 'learned' | 'given';
}

/** Three relations, as the longest questions of MetaQA need; the walker decides when to stop. */
export const defaultRelationRules: RelationWalkRules = { horizon: 3, hops: 'learned' };

/** Where a walk over relations stands. Immutable. */
export interface RelationWalkState {
  /** The relations walked and the frontier they lead to. */
  readonly node: FrontierNode;
  /** Relations the walk may take in all. */
  readonly limit: number;
  /** Whether it ends at the limit only. */
  readonly fixed: boolean;
  /** Whether the walk is over: at the limit, after STOP, or where no action is legal. */
  readonly done: boolean;
}

/**
 * The state before the first relation; already `done` where nothing is legal (no topic in the graph, no edges).
 * @param hops what the task tells of its length, read where the rules say `given`
 */
export function initialRelationState(root: FrontierNode, rules: RelationWalkRules, hops?: number): RelationWalkState {
  const fixed = rules.hops === 'given' && hops !== undefined;
  const limit = fixed ? Math.min(hops, rules.horizon) : rules.horizon;
  return { node: root, limit, fixed, done: !root.choices().includes(1) };
}

/** uint8 [numRelations + 1], 1 = legal; all zero once the walk is over. Must not be written to. */
export function relationActionMask({ node, fixed, done }: RelationWalkState): Uint8Array {
  const choices = node.choices();
  if (done) return new Uint8Array(choices.length);
  const stop = choices.length - 1;
  if (!fixed || choices[stop] === 0 || choices.indexOf(1) === stop) return choices;
  const withoutStop = choices.slice();
  withoutStop[stop] = 0;
  return withoutStop;
}

/** The state after a legal action; legality is not checked: this is the hot path of beams. */
export function applyRelation(state: RelationWalkState, action: number): RelationWalkState {
  const { node, limit, fixed } = state;
  if (action === node.choices().length - 1) return { node, limit, fixed, done: true };
  const next = node.follow(action);
  return { node: next, limit, fixed, done: next.relations.length >= limit };
}
