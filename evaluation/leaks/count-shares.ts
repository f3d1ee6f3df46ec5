/**
 * Looks for the leak of entity counts: where a graph holds only entities of dialogues, a candidate that train never used
 * must come from an evaluation dialogue, so it is more often the answer than one that train used once.
 */
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { Graph } from '../../src/kg/graph.js';
import { wilson } from '../../src/metrics/intervals.js';
import type { ProvenanceRecord } from '../../src/run/provenance.js';
import type { KnownSamples } from './known-samples.js';

/** Candidates with one count. */
export interface CountShare {
  /** The train count; the last stands for itself and above. */
  count: number;
  candidates: number;
  /** P(gold | count) in [0, 1], with its 95 % interval (Wilson). */
  goldShare: number;
  low: number;
  high: number;
}

/** P(gold | count) by count. */
export interface LeakCheck {
  shares: CountShare[];
  /** True if no higher count has a lower share, by more than two standard errors; false for a count that marks the answer by being low. */
  monotone: boolean;
}

/** The train count of a candidate edge from `start`. */
export type CountOf = (start: number, tail: number, relation: number) => number;

/** Number of train golds with each entity as a tail: the count that leaks. */
export function entityCounts(train: readonly WalkSample[]): CountOf {
  const counts = tally(train.flatMap(({ gold }) => gold.path.map(([, , tail]) => tail)));
  return (_start, tail) => counts.get(tail) ?? 0;
}

/** Number of train golds from a start to a target: safe, it does not reveal new entities. */
export function pairCounts(train: readonly WalkSample[]): CountOf {
  const counts = tally(train.map(({ gold }) => `${gold.path[0]![0]},${gold.target}`));
  return (start, tail) => counts.get(`${start},${tail}`) ?? 0;
}

/** Number of train golds that use an edge, at any hop. */
export function edgeCounts(train: readonly WalkSample[]): CountOf {
  const counts = tally(train.flatMap(({ gold }) => gold.path.map(String)));
  return (start, tail, relation) => counts.get(`${start},${relation},${tail}`) ?? 0;
}

/** Number of train golds that begin with an edge. */
function firstEdgeCounts(train: readonly WalkSample[]): CountOf {
  const counts = tally(train.map(({ gold }) => String(gold.path[0])));
  return (start, tail, relation) => counts.get(`${start},${relation},${tail}`) ?? 0;
}

/** Number of train golds that leave an entity by a relation. */
function headRelationCounts(train: readonly WalkSample[]): CountOf {
  const counts = tally(train.flatMap(({ gold }) => gold.path.map(([head, relation]) => `${head},${relation}`)));
  return (start, _tail, relation) => counts.get(`${start},${relation}`) ?? 0;
}

/**
 * Counts by the names that artifacts give them (`facts.counts` in `provenance.json`). Those of two edges or of stopping
 * say nothing of a single candidate and are not here.
 */
export const countsByName: Readonly<
  Record<string, { of: (train: readonly WalkSample[]) => CountOf; over: 'edges' | 'relations' }>
> = {
  entity: { of: entityCounts, over: 'edges' },
  'start and end': { of: pairCounts, over: 'edges' },
  edge: { of: edgeCounts, over: 'edges' },
  'first edge': { of: firstEdgeCounts, over: 'edges' },
  'head and relation': { of: headRelationCounts, over: 'relations' },
};

function tally<Key>(keys: readonly Key[]): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/**
 * P(gold | count) over what there is to choose from at the starts of one-hop golds: edges, or for a count that all edges of
 * a relation share the relations, since else a relation of many edges looks unlikely however often it is taken.
 * @param samples of a split that the counts were not taken from
 * @param countOf one of `countsByName` or a custom feature
 * @param highest counts from here on share a row. Default 3
 * @param over what is chosen. Default `edges`
 */
export function goldShareByCount(
  samples: readonly WalkSample[],
  graph: Graph,
  countOf: CountOf,
  highest = 3,
  over: 'edges' | 'relations' = 'edges',
): LeakCheck {
  const candidates = new Float64Array(highest + 1);
  const golds = new Float64Array(highest + 1);
  for (const { task, gold } of samples) {
    if (!gold.inGraph || gold.path.length !== 1) continue;
    const [, goldRelation, goldTail] = gold.path[0]!;
    const begin = graph.offsets[task.start]!;
    for (let edge = begin; edge < graph.offsets[task.start + 1]!; edge++) {
      const relation = graph.relations[edge]!;
      // Edges of one relation lie side by side: the first stands for all.
      if (over === 'relations' && edge > begin && relation === graph.relations[edge - 1]) continue;
      const row = Math.min(highest, countOf(task.start, graph.tails[edge]!, relation));
      candidates[row]!++;
      if (relation === goldRelation && (over === 'relations' || graph.tails[edge] === goldTail)) golds[row]!++;
    }
  }
  const shares = [...candidates.keys()]
    .filter((count) => candidates[count]! > 0)
    .map((count) => {
      const goldShare = golds[count]! / candidates[count]!;
      return { count, candidates: candidates[count]!, goldShare, ...wilson(goldShare, candidates[count]!) };
    });
  return { shares, monotone: shares.every((share, i) => i === 0 || !isBelow(share, shares[i - 1]!)) };
}

function isBelow(a: CountShare, b: CountShare): boolean {
  const variance = ({ goldShare, candidates: n }: CountShare) => (goldShare * (1 - goldShare)) / n;
  return b.goldShare - a.goldShare > 2 * Math.sqrt(variance(a) + variance(b));
}

/** P(gold | count) of one count, and who uses it. */
export interface CountCheck extends LeakCheck {
  /** Name in `countsByName`. */
  count: string;
  /** Candidates that are ranked by it. */
  over: 'edges' | 'relations';
  /** Owners of tables with this count: `run`, or agents evaluated with it. Empty: none; reported because the graph contains it. */
  usedBy: string[];
}

/** Every count that is known, on the asked split, counted in train. Those that are used come first. @param noted by agent */
export function countChecks(
  { graph, splits, asked }: KnownSamples<WalkSample>,
  noted: readonly { of: string; record: ProvenanceRecord }[],
): CountCheck[] {
  const train = splits.flatMap(({ role, samples }) => (role === 'train' ? samples : []));
  const usersOf = (count: string) => noted.flatMap(({ of, record }) => (countsIn(record).has(count) ? [of] : []));
  const checks = Object.entries(countsByName).map(([count, { of, over }]) => ({
    count,
    over,
    usedBy: usersOf(count),
    ...goldShareByCount(asked.samples, graph, of(train), undefined, over),
  }));
  return checks.sort((a, b) => Number(b.usedBy.length > 0) - Number(a.usedBy.length > 0));
}

function countsIn({ artifacts }: ProvenanceRecord): Set<string> {
  return new Set(artifacts.flatMap(({ facts }) => (Array.isArray(facts?.counts) ? facts.counts : [])));
}
