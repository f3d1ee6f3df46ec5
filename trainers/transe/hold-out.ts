/** Which facts of a graph to train on and which to hold out. */
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { inversePrefix } from '../../src/kg/graph.js';
import type { Triple } from '../../src/kg/path.js';
import { pickTriples } from '../../src/kg/triple-columns.js';
import { Rng } from '../../src/run/seeds.js';
import { createTripleSet, hasTriple } from './triple-set.js';

/** How many facts are held out, which never, and from which seed. */
export interface HoldOutOptions {
  /** Share of the facts, default 0.01. */
  share?: number;
  /** Triples that stay in train, in either direction: those of train's paths. Triples the graph lacks do no harm. */
  exclude?: Iterable<Triple>;
  seed: number;
}

/** Facts in two parts that share none. */
export interface HeldOut {
  train: TripleColumns;
  valid: TripleColumns;
}

/**
 * The relation that a fact is told with, for each relation: `name` for `~name` where the graph has both, else itself.
 * @returns int32 [numRelations]
 */
export function forwardRelations({ relationNames, inverseOf }: Graph): Int32Array {
  return Int32Array.from(relationNames, (name, relation) =>
    name.startsWith(inversePrefix) && inverseOf[relation]! >= 0 ? inverseOf[relation]! : relation,
  );
}

/**
 * Every fact of the graph once: (t, ~r, h) and (h, r, t) are one fact, told as (h, r, t). A held-out fact is then held out
 * in both directions by construction, and TransE loses nothing: h + r ≈ t already says t − r ≈ h.
 */
export function graphFacts(graph: Graph): TripleColumns {
  const forward = forwardRelations(graph);
  const facts = emptyColumns(graph.numEdges);
  let count = 0;
  for (let entity = 0; entity < graph.numEntities; entity++) {
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
      const relation = graph.relations[edge]!;
      const other = graph.tails[edge]!;
      const told = forward[relation]!;
      // Told backwards: the other direction brings it, unless the graph has this one alone.
      if (told !== relation && graph.edgeIndex(other, told, entity) >= 0) continue;
      facts.heads[count] = told === relation ? entity : other;
      facts.relations[count] = told;
      facts.tails[count++] = told === relation ? other : entity;
    }
  }
  return pickTriples(
    facts,
    Int32Array.from({ length: count }, (_, i) => i),
  );
}

/**
 * Splits the facts of a graph at random. Held-out facts lie on no excluded triple and leave each of their entities and
 * their relation at least one fact to learn from. Facts that say nearly the same under another relation stay in train:
 * validation ranks are for choosing weights, not a link-prediction benchmark.
 */
export function holdOutTriples(graph: Graph, { share = 0.01, exclude = [], seed }: HoldOutOptions): HeldOut {
  const facts = graphFacts(graph);
  const { heads, relations, tails } = facts;
  const excluded = createTripleSet(forwardTriples(graph, exclude));
  const count = heads.length;
  const uses = new Int32Array(graph.numEntities);
  const relationUses = new Int32Array(graph.numRelations);
  for (let i = 0; i < count; i++) {
    uses[heads[i]!]!++;
    uses[tails[i]!]!++;
    relationUses[relations[i]!]!++;
  }
  const wanted = Math.round(count * share);
  const order = Rng.named(seed, 'transe/hold-out').shuffle(Int32Array.from({ length: count }, (_, i) => i));
  const held = new Uint8Array(count);
  let taken = 0;
  for (const i of order) {
    if (taken === wanted) break;
    const [head, relation, tail] = [heads[i]!, relations[i]!, tails[i]!];
    if (uses[head]! < 2 || uses[tail]! < 2 || head === tail || relationUses[relation]! < 2) continue;
    if (hasTriple(excluded, head, relation, tail)) continue;
    uses[head]!--;
    uses[tail]!--;
    relationUses[relation]!--;
    held[i] = 1;
    taken++;
  }
  const places = Int32Array.from({ length: count }, (_, i) => i);
  return {
    train: pickTriples(
      facts,
      places.filter((i) => !held[i]),
    ),
    valid: pickTriples(
      facts,
      places.filter((i) => held[i]),
    ),
  };
}

function forwardTriples(graph: Graph, triples: Iterable<Triple>): TripleColumns {
  const forward = forwardRelations(graph);
  const told = [...triples]
    .filter(([, relation]) => relation >= 0 && relation < graph.numRelations)
    .map(([head, relation, tail]) =>
      forward[relation] === relation ? [head, relation, tail] : [tail, forward[relation]!, head],
    );
  const column = (place: number) => Int32Array.from(told, (triple) => triple[place]!);
  return { heads: column(0), relations: column(1), tails: column(2) };
}

function emptyColumns(length: number): TripleColumns {
  return { heads: new Int32Array(length), relations: new Int32Array(length), tails: new Int32Array(length) };
}
