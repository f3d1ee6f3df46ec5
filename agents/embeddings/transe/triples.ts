/** Selection of a graph's facts for TransE training and validation, and of the side to corrupt. */
import type { DialogueDataset } from '../../../datasets/dialogues/dialogue-dataset.js';
import { madeFromSamples } from '../../../datasets/sample-source.js';
import { walkSamples } from '../../../datasets/walk-sample.js';
import { type Graph, inversePrefix, pickTriples, type Triple, type TripleColumns } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';

interface HoldOutOptions {
  /** Share of the facts, default 0.01. */
  share?: number;
  /** Triples that stay in train, in either direction, such as train's paths; those missing from the graph are ignored. */
  exclude?: Iterable<Triple>;
  seed: number;
}

export type HeldOut = { train: TripleColumns; valid: TripleColumns };

/** Forward relation of each relation: `name` for `~name` if the graph has both, else itself. @returns int32 [numRelations] */
export function forwardRelations({ relationNames, inverseOf }: Graph): Int32Array {
  return Int32Array.from(relationNames, (name, relation) =>
    name.startsWith(inversePrefix) && inverseOf[relation]! >= 0 ? inverseOf[relation]! : relation,
  );
}

/**
 * Every fact of the graph once: (t, ~r, h) and (h, r, t) are one fact, stored as (h, r, t). A held-out fact is then
 * held out in both directions by construction, and TransE loses nothing: h + r ≈ t already implies t − r ≈ h.
 */
export function graphFacts(graph: Graph): TripleColumns {
  const forwardOf = forwardRelations(graph);
  const column = () => new Int32Array(graph.numEdges);
  const facts = { heads: column(), relations: column(), tails: column() };
  let count = 0;
  for (let entity = 0; entity < graph.numEntities; entity++) {
    for (let edge = graph.offsets[entity]!; edge < graph.offsets[entity + 1]!; edge++) {
      const relation = graph.relations[edge]!;
      const other = graph.tails[edge]!;
      const forward = forwardOf[relation]!;
      // The forward edge adds this fact, unless the graph lacks it.
      if (forward !== relation && graph.edgeIndex(other, forward, entity) >= 0) continue;
      facts.heads[count] = forward === relation ? entity : other;
      facts.relations[count] = forward;
      facts.tails[count++] = forward === relation ? other : entity;
    }
  }
  return {
    heads: facts.heads.slice(0, count),
    relations: facts.relations.slice(0, count),
    tails: facts.tails.slice(0, count),
  };
}

/**
 * Splits the facts of a graph at random. Held-out facts lie on no excluded triple and leave each of their entities and
 * their relation at least one fact in train. Near-duplicate facts under another relation stay in train: validation
 * ranks are for choosing weights, not a link-prediction benchmark.
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
  const indices = Int32Array.from({ length: count }, (_, i) => i);
  const order = Rng.named(seed, 'transe/hold-out').shuffle(indices.slice());
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
  const placesOf = (isHeld: number) => indices.filter((i) => held[i] === isHeld);
  return { train: pickTriples(facts, placesOf(0)), valid: pickTriples(facts, placesOf(1)) };
}

function forwardTriples(graph: Graph, triples: Iterable<Triple>): TripleColumns {
  const forward = forwardRelations(graph);
  const facts = [...triples]
    .filter(([, relation]) => relation >= 0 && relation < graph.numRelations)
    .map(([head, relation, tail]) =>
      forward[relation] === relation ? [head, relation, tail] : [tail, forward[relation]!, head],
    );
  const column = (index: number) => Int32Array.from(facts, (triple) => triple[index]!);
  return { heads: column(0), relations: column(1), tails: column(2) };
}

/**
 * Every triple of every path of train, including parts that a run does not read, so that each command holds out the same facts and finds
 * the same table. Without valid and test: facts held out are ranked a little lower, and none of them would be a gold of those splits.
 */
export function dialogueTriples(dataset: DialogueDataset, graph: Graph): Triple[] {
  const note = madeFromSamples('embedding', 'facts that TransE never holds out');
  return walkSamples(dataset.loadDialogues('train'), graph).flatMap((sample) => {
    note(sample);
    return sample.gold.path;
  });
}

/**
 * Probability of corrupting the tail (else the head) for each relation: tails per head / (tails per head + heads per tail), seen from the
 * other side, so that the side with more true answers, where a random entity is more often true, is corrupted less.
 * @returns float64 [numRelations]; 0.5 for a relation without triples
 * @source Wang et al. 2014, "Knowledge graph embedding by translating on hyperplanes", section 3.2
 */
export function tailCorruptionChance({ heads, relations, tails }: TripleColumns, numRelations: number): Float64Array {
  const distinctHeads = Array.from({ length: numRelations }, () => new Set<number>());
  const distinctTails = Array.from({ length: numRelations }, () => new Set<number>());
  for (let i = 0; i < heads.length; i++) {
    distinctHeads[relations[i]!]!.add(heads[i]!);
    distinctTails[relations[i]!]!.add(tails[i]!);
  }
  // tails per head : heads per tail = 1 / distinct heads : 1 / distinct tails
  return Float64Array.from({ length: numRelations }, (_, relation) => {
    const [numHeads, numTails] = [distinctHeads[relation]!.size, distinctTails[relation]!.size];
    return numHeads === 0 ? 0.5 : numHeads / (numHeads + numTails);
  });
}

/** Open addressing over indexes into the columns: 4 bytes per slot, at most half of them occupied. */
export interface TripleSet {
  readonly columns: TripleColumns;
  /** int32, length a power of two; index of a triple, or -1. */
  readonly slots: Int32Array;
  /**
   * int32, length a power of two: one bit is set per triple, with at least eight bits per triple. Most triples that are
   * not in the set meet a zero here, in a fraction of the memory of `slots`, so this stays in a closer cache.
   */
  readonly filter: Int32Array;
}

/** Minimum number of filter bits per triple. */
const filterBits = 8;

/** Indexes the columns, which must not change afterwards. */
export function createTripleSet(columns: TripleColumns): TripleSet {
  const { heads, relations, tails } = columns;
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(heads.length * 2 + 1))).fill(-1);
  const filter = new Int32Array(2 ** Math.max(0, Math.ceil(Math.log2((heads.length * filterBits) / 32))));
  const shift = filterShift(filter);
  for (let i = 0; i < heads.length; i++) {
    const mixed = mix(heads[i]!, relations[i]!, tails[i]!);
    const bit = mixed >>> shift;
    filter[bit >>> 5]! |= 1 << bit;
    let slot = mixed & (slots.length - 1);
    while (slots[slot]! >= 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = i;
  }
  return { columns, slots, filter };
}

export function hasTriple(
  { columns, slots, filter }: TripleSet,
  head: number,
  relation: number,
  tail: number,
): boolean {
  const mixed = mix(head, relation, tail);
  const bit = mixed >>> filterShift(filter);
  if (((filter[bit >>> 5]! >>> bit) & 1) === 0) return false;
  const { heads, relations, tails } = columns;
  const mask = slots.length - 1;
  for (let slot = mixed & mask; ; slot = (slot + 1) & mask) {
    const i = slots[slot]!;
    if (i < 0) return false;
    if (heads[i] === head && relations[i] === relation && tails[i] === tail) return true;
  }
}

/** Shift that maps a hash to its bit of the filter, using the high bits. Low bits choose the slot. */
const filterShift = ({ length }: Int32Array): number => Math.clz32(length) - 4;

/** Hashes three ids so that neighbours scatter. */
function mix(head: number, relation: number, tail: number): number {
  let mixed = Math.imul(head, 0x9e3779b1) ^ Math.imul(tail, 0x85ebca6b) ^ Math.imul(relation, 0xc2b2ae35);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
