/** Where the gold would stand in a ranking if part of it were known: what the misses are about. */
import { z } from 'zod';
import type { RankedPath } from '../../../agents/agent.js';
import type { WalkSample } from '../../../datasets/walk-sample.js';
import type { Path } from '../../../src/kg/graph.js';
import { openObject } from '../../../src/run/read-json.js';

const rank = z.int().min(0);

/** What may be known of a gold, and whether a walk shares it. */
const shares = {
  hops: (walk: Path, gold: Path) => walk.length === gold.length,
  relation: (walk: Path, gold: Path) => walk[0]?.[1] === gold[0]?.[1],
  relations: (walk: Path, gold: Path) => walk.length === gold.length && walk.every(([, r], i) => r === gold[i]![1]),
  edge: (walk: Path, gold: Path) => String(walk[0]) === String(gold[0]),
  target: (walk: Path, gold: Path) => walk.at(-1)?.[2] === gold.at(-1)?.[2],
} as const;
/** A part of a gold: the number of hops, the first relation, all relations, the first edge, the last entity. */
export type KnownPart = keyof typeof shares;
/** In the order of tables. */
export const knownParts = Object.keys(shares) as KnownPart[];

/** Of a row: see `toldOf`. */
export const toldSchema = openObject({
  squares: z.number(),
  ranks: z.object({ hops: rank, relation: rank, relations: rank, edge: rank, target: rank }),
  first: z.array(z.enum(['hops', 'relation', 'relations', 'edge', 'target'])),
});
/**
 * Of ranked walks: Σ of their squared probabilities; by part, the gold's rank among those that share the part with it (from 1; 0 where it
 * is not ranked); and what the first walk has right.
 */
export type Told = z.output<typeof toldSchema>;

/**
 * As ranks count it, nothing is right of a gold that the graph lacks.
 * @param paths canonical, best first, of an agent that is a distribution over walks
 */
export function toldOf(paths: readonly RankedPath[], { path: gold, inGraph }: WalkSample['gold']): Told {
  const place = inGraph ? paths.findIndex(({ path }) => String(path) === String(gold)) : -1;
  const rankOf = (part: KnownPart) =>
    place < 0 ? 0 : paths.slice(0, place + 1).filter(({ path }) => shares[part](path, gold)).length;
  return {
    squares: paths.reduce((sum, { logProb }) => sum + Math.exp(2 * logProb), 0),
    ranks: Object.fromEntries(knownParts.map((part) => [part, rankOf(part)])) as Told['ranks'],
    first: inGraph && paths.length > 0 ? knownParts.filter((part) => shares[part](paths[0]!.path, gold)) : [],
  };
}
