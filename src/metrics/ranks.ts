/** Ranking metrics (mean reciprocal rank, Hits@k) of links and walks, and spread statistics. Pure, ids only; ranks are 1-based, 0 = absent. */
import { canonicalPath, pathKey, type Path } from '../kg/graph.js';

/**
 * Realistic rank: mean of the optimistic (ties behind) and pessimistic (ties in front) rank, so that constant scores rank in the middle.
 * @param better number of strictly better candidates
 * @param ties candidates with an equal score, the answer excluded
 * @returns 1 is best; halves are possible
 * @source Berrendorf et al. 2020, "On the ambiguity of rank-based evaluation of entity alignment or link prediction methods"
 */
export const realisticRank = (better: number, ties: number): number => 1 + better + ties / 2;

/**
 * Filtered realistic rank: other known answers are excluded, ties count half. Unreached entities score -Infinity, so an unreached answer
 * ranks behind all reached ones and ties with the rest. NaN ranks worst, so a broken model ranks last.
 * @param scores [numEntities], higher is better
 * @param known entities, each once; may include the answer
 * @returns 1 is best; halves are possible
 */
export function filteredRank(scores: Float64Array | Float32Array, answer: number, known: Int32Array): number {
  const own = scores[answer]!;
  let better = 0;
  let ties = -1;
  for (let entity = 0; entity < scores.length; entity++) {
    const score = scores[entity]!;
    if (score === own) ties++;
    else if (!(score < own)) better++;
  }
  // NaN does not equal itself: it was counted as better, not as the answer's tie with itself.
  if (Number.isNaN(own)) return scores.length - known.length + Number(known.includes(answer));
  for (const entity of known) {
    if (entity === answer) continue;
    const score = scores[entity]!;
    if (score === own) ties--;
    else if (!(score < own)) better--;
  }
  return realisticRank(better, ties);
}

/** Mean reciprocal rank, a fraction; 0 without ranks. */
export function mrr(ranks: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < ranks.length; i++) sum += 1 / ranks[i]!;
  return ranks.length === 0 ? 0 : sum / ranks.length;
}

/** Share of ranks ≤ `k`, a fraction; 0 without ranks. */
export function hitsAtK(ranks: ArrayLike<number>, k: number): number {
  let hits = 0;
  for (let i = 0; i < ranks.length; i++) if (ranks[i]! <= k) hits++;
  return ranks.length === 0 ? 0 : hits / ranks.length;
}

/**
 * Chance that an answer is within the first `k` of itself and `others` of the candidates, drawn with replacement: the Hits@10 "of 50" by
 * which published inductive splits are compared.
 * @param rank 1 or more, halves included @param candidates number of entities that were ranked, the answer included
 * @source github.com/KiddoZhu/NBFNet-PyG, which counts so what Teru et al. 2020, "Inductive relation prediction by subgraph reasoning", draw
 */
export function sampledHit(rank: number, candidates: number, k = 10, others = 49): number {
  const before = candidates > 1 ? (rank - 1) / (candidates - 1) : 0;
  if (before >= 1) return Number(others < k);
  let term = (1 - before) ** others;
  let chance = term;
  for (let i = 1; i < k && i <= others; i++) {
    term *= ((others - i + 1) / i) * (before / (1 - before));
    chance += term;
  }
  return chance;
}

/** Mean, median, 95th percentile and maximum; all 0 without values. */
export type Spread = { mean: number; median: number; p95: number; max: number };

/** Mean, median, 95th percentile and maximum, as tables print them. */
export const spreadText = ({ mean, median, p95, max }: Spread) => `${mean.toFixed(1)} / ${median} / ${p95} / ${max}`;

/** Percentiles by nearest rank, so always one of the values; the median of an even count is the lower one. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) return { mean: 0, median: 0, p95: 0, max: 0 };
  const sorted = Float64Array.from(values).sort();
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]!;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { mean, median: rank(0.5), p95: rank(0.95), max: sorted.at(-1)! };
}

/** Final entity with the best and the summed log-probability of the walks that end there. */
export type ScoredEntity = { entity: number; logProb: number; summedLogProb: number };

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
export const hitAtK = (rank: number, k: number): number => (rank > 0 && rank <= k ? 1 : 0);

/** 1/rank, 0 if absent. */
export const reciprocalRank = (rank: number): number => (rank > 0 ? 1 / rank : 0);

/** Beam slots of the reference for any k: its "@25" is "@20". */
export const arkBeamWidth = 20;

/** Entity id of an empty slot. */
export const padEntity = -1;

/** The reference's beam over walks of exactly two steps. Slots are re-sorted at the second step, so a slot does not follow one walk. */
export interface ArkBeam {
  start: number;
  /** Entity of each slot after the first step, `padEntity` if the start has fewer edges. */
  afterFirst: readonly number[];
  /** Walk of each slot after the second step, stays included; undefined if there are fewer. As long as `afterFirst`. */
  walks: readonly (Path | undefined)[];
}

/** Gold positions by the reference's counting. */
export interface ArkRanks {
  /** Rank of the gold walk: ark-path@k. */
  path: number;
  /** Rank of the end of the gold's first hop, which the reference takes for the target: ark-target@k. */
  target: number;
  /** Rank of the gold's last entity, counted the same way: target-any@k. */
  anyTarget: number;
}

/**
 * Gold ranks in a beam, counted as LLM-ARK's published code does, for comparison with the paper only: it overrates targets and
 * underrates paths. Golds of more than two hops are never found, but their targets are counted.
 * @source the test of github.com/Airoura/LLM-ARK, as described by Huang 2024, "LLM-ARK", section 4
 */
export function arkRanks(beam: ArkBeam, gold: Path, equalRelation: number): ArkRanks {
  const hops = canonicalPath(gold, equalRelation);
  const first = hops[0]?.[2] ?? beam.start;
  const last = hops.at(-1)?.[2] ?? beam.start;
  return {
    path: pathRank(beam, hops, equalRelation),
    target: targetRank(beam, first),
    anyTarget: targetRank(beam, last),
  };
}

/**
 * Both triples must match, one-hop golds ending in a stay. Slots that are empty after the first step are skipped after the second,
 * although they hold another walk by then.
 */
function pathRank({ afterFirst, walks }: ArkBeam, hops: Path, equalRelation: number): number {
  const wanted = hops.length === 1 ? [...hops, [hops[0]![2], equalRelation, hops[0]![2]] as const] : hops;
  const listed = walks.filter((walk, slot) => walk !== undefined && afterFirst[slot] !== padEntity);
  return 1 + listed.findIndex((walk) => pathKey(walk!) === pathKey(wanted));
}

/**
 * First slot with the target after either step, or 1 if the walk starts there. Slots with equal entities all count, including those
 * skipped by `pathRank`.
 */
function targetRank({ start, afterFirst, walks }: ArkBeam, target: number): number {
  if (start === target) return 1;
  return (
    1 +
    afterFirst.findIndex((entity, slot) => {
      const end = walks[slot]?.at(-1)?.[2];
      return (entity !== padEntity && entity === target) || end === target;
    })
  );
}
