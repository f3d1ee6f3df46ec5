/** What a walk over relations earns: how well its last frontier answers the question. Reads golds, as `walk-reward.ts`. */
import type { QuestionGold } from '../datasets/question.js';
import type { Frontier } from '../src/kg/frontier.js';
import type { RelationWalkSettings } from './relation-walk-settings.js';

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

/** How well a frontier answers; each in [0, 1], 0 for an empty frontier or gold. */
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
    const place = placeOf(entities, entity);
    if (place < 0) continue;
    right++;
    if (first < 0 || counts[place]! > counts[first]!) first = place;
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
export function answerReward(kind: RelationWalkSettings['reward'], scores: FrontierScores): number {
  return scores[kind];
}

/** Where an entity stands in an ascending list, or -1. */
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
