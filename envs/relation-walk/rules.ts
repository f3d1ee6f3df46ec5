/**
 * The rules of a walk over relations, as pure functions: which actions a state has, where each leads, when the walk ends. `step`, greedy,
 * beam and lookups all call these, so training and evaluation can never see different action sets.
 *
 * Action `i < numRelations` takes relation `i` from the whole frontier at once; action `numRelations` is STOP. Legal are the relations
 * that lead to something that may be reached (topics may not, but where the data set says so), and STOP behind the first of them.
 */
import type { QuestionGold } from '../../datasets/question.js';
import type { Frontier } from '../../src/kg/frontier.js';
import type { FrontierNode } from './frontier-trie.js';
import type { RelationWalkSettings } from '../settings.js';

/** Legal moves of a walk over relations. */
export interface RelationWalkRules {
  /** Relations a walk may take; at least 1. */
  horizon: number;
  /**
   * `learned`: the walk ends when STOP is chosen. `given`: after the number of relations given by the task, and STOP is legal only if no
   * relation is; tasks without a number are walked as `learned`.
   */
  hops: 'learned' | 'given';
}

/** Three relations, as the longest questions of MetaQA need; the walker decides when to stop. */
export const defaultRelationRules: RelationWalkRules = { horizon: 3, hops: 'learned' };

/** State of a walk over relations. Immutable. */
export interface RelationWalkState {
  readonly node: FrontierNode;
  /** Relations the walk may take in all. */
  readonly limit: number;
  /** True if it ends at the limit only. */
  readonly fixed: boolean;
  /** True if the walk is over: at the limit, after STOP, or without legal actions. */
  readonly done: boolean;
}

/**
 * The state before the first relation; already `done` if nothing is legal (no topic in the graph, no edges).
 * @param hops number of relations given by the task, read if the rules say `given`
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
export function applyRelation({ node, limit, fixed }: RelationWalkState, action: number): RelationWalkState {
  if (action === node.choices().length - 1) return { node, limit, fixed, done: true };
  const next = node.follow(action);
  return { node: next, limit, fixed, done: next.relations.length >= limit };
}

/** The right answers of a question, ready to be compared with frontiers. */
export interface GoldSet {
  /** int32, ascending, distinct: the answers that the graph has. */
  entities: Int32Array;
  /** All of them, those outside the graph included: they count as missed. */
  size: number;
}

/** The right answers of a question, each once; those outside the graph are in its size alone. */
export function goldSet({ answers }: Pick<QuestionGold, 'answers'>): GoldSet {
  const known = new Set(answers.map(({ entity }) => entity).filter((entity) => entity >= 0));
  const outside = new Set(answers.filter(({ entity }) => entity < 0).map(({ name }) => name));
  return { entities: Int32Array.from(known).sort(), size: known.size + outside.size };
}

/** Precision, recall and F1 of a frontier; each in [0, 1], 0 for an empty frontier or gold. */
export interface FrontierScores {
  f1: number;
  /** 1 where the two sets are equal. */
  exact: number;
  /** 1 where the first entity in canonical order is a right answer. */
  hit: number;
}

/** O(answers · log frontier + frontier). */
export function scoreFrontier({ entities, counts }: Frontier, gold: GoldSet): FrontierScores {
  let right = 0;
  let first = -1;
  for (const entity of gold.entities) {
    const index = placeOf(entities, entity);
    if (index < 0) continue;
    right++;
    if (first < 0 || counts[index]! > counts[first]!) first = index;
  }
  if (right === 0) return { f1: 0, exact: 0, hit: 0 };
  let hit = 1;
  for (let i = 0; i < entities.length && hit === 1; i++) {
    if (counts[i]! > counts[first]! || (counts[i] === counts[first] && i < first)) hit = 0;
  }
  const exact = Number(right === entities.length && right === gold.size);
  return { f1: (2 * right) / (entities.length + gold.size), exact, hit };
}

/** The reward at the end of a walk, in [0, 1]. */
export const answerReward = (kind: RelationWalkSettings['reward'], scores: FrontierScores): number => scores[kind];

/** Index of an entity in an ascending list, or -1. */
function placeOf(entities: Int32Array, wanted: number): number {
  let low = 0;
  let high = entities.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (entities[middle] === wanted) return middle;
    if (entities[middle]! < wanted) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
