/**
 * Looks for the leak of entity counts: where a graph holds only entities of dialogues, a candidate that train never used
 * must come from an evaluation dialogue, so it is more often the answer than one that train used once.
 */
import type { WalkSample } from '../datasets/walk-sample.js';
import type { Graph } from '../src/kg/graph.js';

/** Candidates with one count. */
export interface CountShare {
  /** The train count; the last stands for itself and above. */
  count: number;
  candidates: number;
  /** P(gold | count) in [0, 1]. */
  goldShare: number;
}

/** How often the gold is chosen by its count. */
export interface LeakCheck {
  shares: CountShare[];
  /**
   * Whether no higher count has a lower share, by more than two standard errors; false for a count that marks the answer
   * by being low.
   */
  monotone: boolean;
}

/** How often train golds have each entity as a tail: the count that leaks. */
export function entityCounts(train: readonly WalkSample[]): (start: number, tail: number) => number {
  const counts = new Map<number, number>();
  for (const { gold } of train) for (const [, , tail] of gold.path) counts.set(tail, (counts.get(tail) ?? 0) + 1);
  return (_start, tail) => counts.get(tail) ?? 0;
}

/** How often train golds lead from a start to a target: safe, it does not tell who is new. */
export function pairCounts(train: readonly WalkSample[]): (start: number, tail: number) => number {
  const counts = new Map<string, number>();
  for (const { gold } of train) {
    const key = `${gold.path[0]![0]},${gold.target}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return (start, tail) => counts.get(`${start},${tail}`) ?? 0;
}

/**
 * P(gold | count) over the edges of the starts of one-hop golds; a candidate is gold where edge and gold are equal.
 * @param samples of a split that the counts were not taken from
 * @param countOf from `entityCounts`, `pairCounts` or a feature of one's own
 * @param highest counts from here on share a row. Default 3
 */
export function goldShareByCount(
  samples: readonly WalkSample[],
  graph: Graph,
  countOf: (start: number, tail: number) => number,
  highest = 3,
): LeakCheck {
  const candidates = new Float64Array(highest + 1);
  const golds = new Float64Array(highest + 1);
  for (const { task, gold } of samples) {
    if (!gold.inGraph || gold.path.length !== 1) continue;
    const goldEdge = graph.edgeIndex(...gold.path[0]!);
    for (let edge = graph.offsets[task.start]!; edge < graph.offsets[task.start + 1]!; edge++) {
      const row = Math.min(highest, countOf(task.start, graph.tails[edge]!));
      candidates[row]!++;
      if (edge === goldEdge) golds[row]!++;
    }
  }
  const shares = [...candidates.keys()]
    .filter((count) => candidates[count]! > 0)
    .map((count) => ({ count, candidates: candidates[count]!, goldShare: golds[count]! / candidates[count]! }));
  return { shares, monotone: shares.every((share, i) => i === 0 || !isBelow(share, shares[i - 1]!)) };
}

function isBelow(a: CountShare, b: CountShare): boolean {
  const variance = ({ goldShare, candidates: n }: CountShare) => (goldShare * (1 - goldShare)) / n;
  return b.goldShare - a.goldShare > 2 * Math.sqrt(variance(a) + variance(b));
}
