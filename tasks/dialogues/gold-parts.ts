/** Rank of the gold path among ranked paths that share a part of it: shows which part of a path is missed. */
import { z } from 'zod';
import type { RankedPath } from '../../agents/agent.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { Path } from '../../src/kg/graph.js';
import { openObject } from '../../src/run/read-json.js';

const rank = z.int().min(0);

/** Parts of a gold path, each with a test for a path that shares it. */
const shares = {
  hops: (walk: Path, gold: Path) => walk.length === gold.length,
  relation: (walk: Path, gold: Path) => walk[0]?.[1] === gold[0]?.[1],
  relations: (walk: Path, gold: Path) => walk.length === gold.length && walk.every(([, r], i) => r === gold[i]![1]),
  edge: (walk: Path, gold: Path) => String(walk[0]) === String(gold[0]),
  target: (walk: Path, gold: Path) => walk.at(-1)?.[2] === gold.at(-1)?.[2],
} as const;
/** Part of a gold path: the number of hops, the first relation, all relations, the first edge, the last entity. */
export type GoldPart = keyof typeof shares;
/** All parts, in the order of tables. */
export const goldParts = Object.keys(shares) as GoldPart[];

/** Schema of a record field; see `goldPartRanks`. */
export const goldPartSchema = openObject({
  squares: z.number(),
  ranks: z.object({ hops: rank, relation: rank, relations: rank, edge: rank, target: rank }),
  first: z.array(z.enum(['hops', 'relation', 'relations', 'edge', 'target'])),
});
/**
 * Over ranked paths: the sum of their squared probabilities; for each part, the rank of the gold among the paths that share the part (from 1;
 * 0 if it is not ranked); and the parts that the first path has right.
 */
export type GoldPartRanks = z.output<typeof goldPartSchema>;

/**
 * Like the other ranks, counts nothing as right if the graph lacks the gold path.
 * @param paths canonical, best first, of an agent with a distribution over paths
 */
export function goldPartRanks(
  paths: readonly RankedPath[],
  { path: gold, inGraph }: WalkSample['gold'],
): GoldPartRanks {
  const place = inGraph ? paths.findIndex(({ path }) => String(path) === String(gold)) : -1;
  const rankOf = (part: GoldPart) =>
    place < 0 ? 0 : paths.slice(0, place + 1).filter(({ path }) => shares[part](path, gold)).length;
  return {
    squares: paths.reduce((sum, { logProb }) => sum + Math.exp(2 * logProb), 0),
    ranks: Object.fromEntries(goldParts.map((part) => [part, rankOf(part)])) as GoldPartRanks['ranks'],
    first: inGraph && paths.length > 0 ? goldParts.filter((part) => shares[part](paths[0]!.path, gold)) : [],
  };
}
