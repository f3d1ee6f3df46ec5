// @ts-nocheck AssemblyScript: its compiler checks.
/** State of the kernels of TransE training, set once an instance: byte offsets of arrays, sizes and settings. */

export let entities: usize = 0;
export let relations: usize = 0;
export let entitySquares: usize = 0;
export let relationSquares: usize = 0;
export let numEntities: i32 = 0;
export let dim: i32 = 0;
/** Bytes of a row. */
export let rowBytes: usize = 0;
/** Bytes of a row that whole vectors cover. */
export let wholeBytes: usize = 0;

export let heads: usize = 0;
export let relationsOf: usize = 0;
export let tails: usize = 0;
export let slots: usize = 0;
export let slotMask: i32 = 0;
export let filter: usize = 0;
export let filterShift: u32 = 0;
export let tailChance: usize = 0;

export let norm: i32 = 1;
export let hinge: bool = false;
export let margin: f32 = 0;
export let temperature: f32 = 0;
export let cutoff: f32 = 0;
export let adagrad: bool = false;
export let negatives: i32 = 0;

export let places: usize = 0;
export let placeBytes: usize = 0;
export let streams: usize = 0;
/** float32 [negatives + 1, dim]: of the place that was compared last. */
export let differences: usize = 0;
/** float32 [dim]: of that place. */
export let query: usize = 0;
/** float32 [16, 4]: ±0 by the bits of the row's number. */
export let signs: usize = 0;

/** Weights and Adagrad's sums: float32 [numEntities, dim] and [any, dim], float64 [numEntities] and [any]. */
export function transeTable(
  toEntities: usize,
  toRelations: usize,
  toEntitySquares: usize,
  toRelationSquares: usize,
  entityCount: i32,
  width: i32,
): void {
  entities = toEntities;
  relations = toRelations;
  entitySquares = toEntitySquares;
  relationSquares = toRelationSquares;
  numEntities = entityCount;
  dim = width;
  rowBytes = (<usize>width) << 2;
  wholeBytes = rowBytes & ~15;
}

/**
 * True triples, which are never negatives.
 * @param heads int32, as are `relations` and `tails`
 * @param slots int32 [slotCount]: their set, by open addressing; `slotCount` is a power of two
 * @param filter int32 [filterCount]: of that set, `filterCount` a power of two
 * @param tailChance float64 [relations]: of corrupting the tail, else the head
 */
export function transeTriples(
  toHeads: usize,
  toRelations: usize,
  toTails: usize,
  toSlots: usize,
  slotCount: i32,
  toFilter: usize,
  filterCount: i32,
  toTailChance: usize,
): void {
  heads = toHeads;
  relationsOf = toRelations;
  tails = toTails;
  slots = toSlots;
  slotMask = slotCount - 1;
  filter = toFilter;
  filterShift = clz<i32>(filterCount) - 4;
  tailChance = toTailChance;
}

/** @param hinge 1 for the margin loss, 0 for the self-adversarial one @param adagrad 1, or 0 for plain descent */
export function transeSettings(
  distanceNorm: i32,
  hingeLoss: i32,
  lossMargin: f32,
  lossTemperature: f32,
  negativeCutoff: f32,
  rowAdagrad: i32,
  negativeCount: i32,
): void {
  norm = distanceNorm;
  hinge = hingeLoss != 0;
  margin = lossMargin;
  temperature = lossTemperature;
  cutoff = negativeCutoff;
  adagrad = rowAdagrad != 0;
  negatives = negativeCount;
  // Room for the answer and the negatives, in whole vectors that may begin after the answer.
  entitiesBytes = ((<usize>negatives + 8) << 2) & ~15;
  gradientAt = 32 + 5 * entitiesBytes;
  directionsAt = gradientAt + ((rowBytes + 15) & ~15);
  directionBytes = norm == 1 ? (rowBytes + 15) >> 4 : rowBytes;
  placeBytes = (directionsAt + <usize>(negatives + 1) * directionBytes + 63) & ~63;
}

/** Bytes of a place, which holds one positive; known once the settings and the table are. */
export function transePlaceBytes(): usize {
  return placeBytes;
}

/** Bytes of scratch, known then too. */
export function transeScratchBytes(): usize {
  return 256 + ((rowBytes + 15) & ~15) + <usize>(negatives + 1) * rowBytes;
}

/** @param places as many as a call is given positives @param streams a generator a place: 16 bytes, low word first */
export function transeRoom(toPlaces: usize, toStreams: usize, scratch: usize): void {
  places = toPlaces;
  streams = toStreams;
  signs = scratch;
  query = scratch + 256;
  differences = query + ((rowBytes + 15) & ~15);
  for (let i = 0; i < 64; i++) store<u32>(signs + (i << 2), ((i >> 2) >> (i & 3)) & 1 ? 0x80000000 : 0);
}

let entitiesBytes: usize = 0;
let gradientAt: usize = 0;
let directionsAt: usize = 0;
/** Bytes of a kept direction: under L1 four signs a byte, else float32. */
export let directionBytes: usize = 0;

// What a place, which holds one positive, begins with; arrays follow.

/** int32: the entity that is kept. */
export const givenAt: usize = 0;
/** int32 */
export const relationAt: usize = 4;
/** float32: 1 where the relation is added to the given entity, −1 where it is taken from it. */
export const sideAt: usize = 8;
/** int32: how many entities the query is compared with, the answer and the negatives. */
export const drawnAt: usize = 12;
/** int32: how many of those move. */
export const movedAt: usize = 16;

export function placeOf(place: i32): usize {
  return places + <usize>place * placeBytes;
}

/** int32: the answer, then the negatives. */
export function drawnOf(place: usize): usize {
  return place + 32;
}

/** float32: of those. */
export function distancesOf(place: usize): usize {
  return place + 32 + entitiesBytes;
}

/** int32: those that move. */
export function movedOf(place: usize): usize {
  return place + 32 + 2 * entitiesBytes;
}

/** float32: the derivatives of the loss by their distances. */
export function pushesOf(place: usize): usize {
  return place + 32 + 3 * entitiesBytes;
}

/** float32: the factors of their directions. */
export function sharesOf(place: usize): usize {
  return place + 32 + 4 * entitiesBytes;
}

/** float32 [dim]: by the given entity. */
export function gradientOf(place: usize): usize {
  return place + gradientAt;
}

export function directionsOf(place: usize): usize {
  return place + directionsAt;
}
