// @ts-nocheck AssemblyScript: its compiler checks.
/** The sides and the negatives of positives: the draws of `agents/embeddings/transe` in plain TypeScript, one for one. */
import {
  drawnAt,
  drawnOf,
  filter,
  filterShift,
  givenAt,
  heads,
  negatives,
  numEntities,
  placeOf,
  relationAt,
  relationsOf,
  sideAt,
  slotMask,
  slots,
  tailChance,
  tails,
} from './transe-state.ts';

/** Draws before a negative is given up because nearly every entity is a true answer. */
const maxDraws = 100;

/** Fills a place with triple `index`: the entity that is kept, and those that its query is compared with. */
export function draw(at: i32, index: i32, stream: usize): void {
  const place = placeOf(at);
  const head = column(heads, index);
  const relation = column(relationsOf, index);
  const tail = column(tails, index);
  const corruptsTail = uniform(stream) < load<f64>(tailChance + ((<usize>relation) << 3));
  const given = corruptsTail ? head : tail;
  store<i32>(place, given, givenAt);
  store<i32>(place, relation, relationAt);
  store<f32>(place, corruptsTail ? 1 : -1, sideAt);
  let drawn = drawnOf(place);
  store<i32>(drawn, corruptsTail ? tail : head);
  for (let j = 0; j < negatives; j++) {
    for (let i = 0; i < maxDraws; i++) {
      const entity = integer(stream, numEntities);
      if (corruptsTail ? isTrue(head, relation, entity) : isTrue(entity, relation, tail)) continue;
      drawn += 4;
      store<i32>(drawn, entity);
      break;
    }
  }
  store<i32>(place, <i32>((drawn - drawnOf(place)) >> 2) + 1, drawnAt);
}

function column(values: usize, index: i32): i32 {
  return load<i32>(values + ((<usize>index) << 2));
}

/** `hasTriple` of `agents/embeddings/transe/triples.ts`. */
function isTrue(head: i32, relation: i32, tail: i32): bool {
  const mixed = mix(head, relation, tail);
  const bit = (<u32>mixed) >>> filterShift;
  if (((column(filter, bit >>> 5) >>> (bit & 31)) & 1) == 0) return false;
  let slot = mixed & slotMask;
  let i = column(slots, slot);
  while (i >= 0) {
    if (column(heads, i) == head && column(relationsOf, i) == relation && column(tails, i) == tail) return true;
    slot = (slot + 1) & slotMask;
    i = column(slots, slot);
  }
  return false;
}

function mix(head: i32, relation: i32, tail: i32): i32 {
  let mixed = (head * 0x9e3779b1) ^ (tail * 0x85ebca6b) ^ (relation * 0xc2b2ae35);
  mixed = (mixed ^ (<i32>((<u32>mixed) >>> 15))) * 0x2c1b3c6d;
  return mixed ^ (<i32>((<u32>mixed) >>> 13));
}

// The generator of `src/run/seeds.ts` over a state in memory: 128 bits, low word first.

/** Draws 32 bits. @source Blackman and Vigna 2018, xoroshiro128+ with the shifts 24, 16, 37; the low half of the sum */
function uint32(state: usize): u32 {
  const first = load<u64>(state);
  const second = load<u64>(state, 8);
  const mixed = first ^ second;
  store<u64>(state, rotl<u64>(first, 24) ^ mixed ^ (mixed << 16));
  store<u64>(state, rotl<u64>(mixed, 37), 8);
  return <u32>(first + second);
}

/** Uniform in [0, 1). */
function uniform(state: usize): f64 {
  return <f64>uint32(state) / 4294967296.0;
}

/** Uniform integer in [0, n). */
function integer(state: usize, n: i32): i32 {
  return <i32>floor<f64>(uniform(state) * <f64>n);
}
