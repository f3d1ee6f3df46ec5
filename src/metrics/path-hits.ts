/** Ranks of the gold walk and its target in an agent's ranking. Pure, ids only; ranks are 1-based, 0 = absent. */
import { canonicalPath, pathKey, type Path } from '../kg/graph.js';

/** Final entity with the best and the summed log-probability of the walks that end there. */
export interface ScoredEntity {
  entity: number;
  logProb: number;
  summedLogProb: number;
}

/** Ranks of the gold among canonical walks. */
export interface PathRanks {
  /** Equal triples (strict): path@k. */
  path: number;
  /** Equal entities in order, any relations: as counted by KG-CRuSE. Parallel relations are not merged. */
  entityPath: number;
  /** Equal relations in order, any entities: as counted by DiffKG. Walks of equal relations are not merged. */
  relationPath: number;
}

/** Ranks of the gold target among distinct final entities. */
export interface TargetRanks {
  /** Finals ordered by their best walk: target@k. */
  target: number;
  /** Finals ordered by the summed probability of their walks. */
  summedTarget: number;
}

/** Drops stay steps and keeps the first of equal walks. Input order is the ranking, which need not be by log-probability alone. */
export function distinctPaths<T extends { path: Path }>(ranked: readonly T[], equalRelation: number): T[] {
  const seen = new Set<string>();
  const distinct: T[] = [];
  for (const walk of ranked) {
    const path = canonicalPath(walk.path, equalRelation);
    const key = pathKey(path);
    if (seen.has(key)) continue;
    seen.add(key);
    distinct.push(path.length === walk.path.length ? walk : { ...walk, path });
  }
  return distinct;
}

/** Ranks of the gold walk among complete walks, best first, stay steps and duplicates merged; a prefix or extension of the gold is no hit. */
export function pathRanks(ranked: readonly { path: Path }[], gold: Path, equalRelation: number): PathRanks {
  const ranks: PathRanks = { path: 0, entityPath: 0, relationPath: 0 };
  const wanted = canonicalPath(gold, equalRelation);
  distinctPaths(ranked, equalRelation).forEach(({ path }, index) => {
    if (path.length !== wanted.length) return;
    const sameEntities = path.every(([head, , tail], hop) => head === wanted[hop]![0] && tail === wanted[hop]![2]);
    const sameRelations = path.every(([, relation], hop) => relation === wanted[hop]![1]);
    if (sameEntities) ranks.entityPath ||= index + 1;
    if (sameRelations) ranks.relationPath ||= index + 1;
    if (sameEntities && sameRelations) ranks.path ||= index + 1;
  });
  return ranks;
}

/** Ranks of the gold target. @param finals distinct entities ordered by their best walk; ties of the sum keep that order */
export function targetRanks(finals: readonly ScoredEntity[], target: number): TargetRanks {
  const index = finals.findIndex(({ entity }) => entity === target);
  if (index < 0) return { target: 0, summedTarget: 0 };
  const sum = finals[index]!.summedLogProb;
  const before = finals.filter((other, i) => other.summedLogProb > sum || (other.summedLogProb === sum && i < index));
  return { target: index + 1, summedTarget: before.length + 1 };
}

/** 1 if the rank is within the first `k`, else 0. */
export function hitAtK(rank: number, k: number): number {
  return rank > 0 && rank <= k ? 1 : 0;
}

/** 1/rank, 0 if absent. */
export function reciprocalRank(rank: number): number {
  return rank > 0 ? 1 / rank : 0;
}
