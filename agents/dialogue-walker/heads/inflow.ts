/** In-flow: rows of entities made of those of the entities that have edges into them, for a batch or for the whole graph in chunks. */
import { type AdjacencyRows, int32Lists, reversedRows } from '../../../src/kg/adjacency.js';
import { joined } from '../../../src/nn/categorical.js';
import type { Tape, Taped } from '../../../src/nn/tape.js';
import type { Rng } from '../../../src/run/seeds.js';
import { renumbering } from './batch-rows.js';

/** Edges into some entities, those of each side by side. */
interface InEdges {
  /** int32 [entities + 1]: edges into entity `i` are `offsets[i] .. offsets[i + 1] - 1`; each has one at least. */
  offsets: Int32Array;
  /** int32 [edges]: relation of each. */
  relations: Int32Array;
  /** int32 [edges]: where each comes from. */
  heads: Int32Array;
}

/** Products that a network prepares of entities and relations. */
type Terms = { entityTerms: readonly Taped[]; relationTerms: readonly Taped[] };

/** Aggregation of the edges into an entity. */
export interface Inflow {
  /** @param rng draws a few of the edges while cloning; without it all are given */
  edgesInto(ids: Int32Array, rng?: Rng): InEdges;
  /**
   * @param terms first of the entities that edges lead into, in their order, then of others
   * @param edges heads are places among the entities
   * @returns terms of the entities that edges lead into, each [entities, any]
   */
  rows(tape: Tape, terms: Terms, edges: InEdges): Taped[];
}

/** Edges into entities, staying first: it keeps what an entity is itself. @param most edges drawn of an entity while cloning */
export function inEdgesOf(rows: AdjacencyRows, stay: number, most: number): Inflow['edgesInto'] {
  let reversed: AdjacencyRows | undefined;
  return (ids, rng) => {
    const { offsets, relations, tails } = (reversed ??= reversedRows(rows));
    const ends = new Int32Array(ids.length + 1);
    const chosen = { relations: [] as number[], heads: [] as number[] };
    for (let i = 0; i < ids.length; i++) {
      const [begin, end] = [offsets[ids[i]!] ?? 0, offsets[ids[i]! + 1] ?? 0];
      chosen.relations.push(stay);
      chosen.heads.push(ids[i]!);
      const take = (edge: number) => {
        chosen.relations.push(relations[edge]!);
        chosen.heads.push(tails[edge]!);
      };
      if (!rng || end - begin <= most) for (let edge = begin; edge < end; edge++) take(edge);
      else drawn(begin, end, most, rng).forEach(take);
      ends[i + 1] = chosen.heads.length;
    }
    return { offsets: ends, ...int32Lists(chosen) };
  };
}

/** `count` distinct integers of begin .. end − 1, each as likely as any other. @source Floyd, in Bentley and Floyd 1987, doi:10.1145/30401.315746 */
function drawn(begin: number, end: number, count: number, rng: Rng): Set<number> {
  const chosen = new Set<number>();
  for (let last = end - count; last < end; last++) {
    const one = begin + rng.integer(last - begin + 1);
    chosen.add(chosen.has(one) ? last : one);
  }
  return chosen;
}

/**
 * Terms of all entities by all edges into them.
 * @param terms of all entities, and of the relations
 * @param tapes computes a chunk after the other on `from`; the results are constants of `to`
 * @param edgesAtOnce bounds memory
 */
export async function allInflowRows(
  inflow: Inflow,
  { entityTerms, relationTerms }: Terms,
  { from, to }: Record<'from' | 'to', Tape>,
  edgesAtOnce = 2 ** 15,
): Promise<Taped[]> {
  const numEntities = entityTerms[0]!.rows;
  const renumber = renumbering(numEntities);
  const { offsets, relations, heads } = inflow.edgesInto(Int32Array.from({ length: numEntities }, (_, id) => id));
  const parts: { width: number; chunks: Float32Array[] }[] = [];
  for (let begin = 0, end = 1; begin < numEntities; begin = end++) {
    const first = offsets[begin]!;
    while (end < numEntities && offsets[end + 1]! - first <= edgesAtOnce) end++;
    const own = Int32Array.from({ length: end - begin }, (_, i) => begin + i);
    const { ids, indices } = renumber(own, heads.subarray(first, offsets[end]));
    from.begin();
    const terms = { entityTerms: entityTerms.map((term) => from.rows(term, ids)), relationTerms };
    const made = inflow.rows(from, terms, {
      offsets: offsets.subarray(begin, end + 1).map((offset) => offset - first),
      relations: relations.subarray(first, offsets[end]),
      heads: indices[1]!,
    });
    for (const [k, term] of made.entries()) {
      parts[k] ??= { width: term.width, chunks: [] };
      parts[k].chunks.push(await from.outputs([term]).read());
    }
  }
  return parts.map(({ width, chunks }) => to.constant(joined(chunks), width));
}
