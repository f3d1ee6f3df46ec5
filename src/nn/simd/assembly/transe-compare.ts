// @ts-nocheck AssemblyScript: its compiler checks.
/** Comparison of a positive with its negatives: distances, and directions of the moves. */
import { exponential, sigmoid } from './exponential.ts';
import {
  cutoff,
  differences,
  directionBytes,
  directionsOf,
  distancesOf,
  drawnAt,
  drawnOf,
  entities,
  givenAt,
  gradientOf,
  hinge,
  margin,
  movedAt,
  movedOf,
  norm,
  pushesOf,
  query,
  relationAt,
  relations,
  rowBytes,
  sharesOf,
  sideAt,
  temperature,
  wholeBytes,
} from './transe-state.ts';

/** Distances up to here leave room for their differences in float32. */
const largest: f32 = 1e38;

/**
 * Compares what was drawn for a place; moves nothing.
 * @returns whether all numbers are finite, and small enough; else the place is not to be moved
 */
export function compare(place: usize): bool {
  composeQuery(place);
  const drawn = drawnOf(place);
  const count = load<i32>(place, drawnAt);
  const distances = distancesOf(place);
  for (let m = 0; m < count; m++) {
    const row = entities + <usize>load<i32>(drawn + (m << 2)) * rowBytes;
    const kept = differences + <usize>m * rowBytes;
    store<f32>(distances + (m << 2), norm == 1 ? absoluteDistance(row, kept) : euclideanDistance(row, kept));
  }
  const pushes = pushesOf(place);
  const pull = hinge ? followHinge(distances, count - 1, pushes) : followSigmoids(distances, count - 1, pushes);
  let strongest: f32 = 0;
  let total = load<f32>(distances) + pull;
  for (let m = 1; m < count; m++) {
    const push = load<f32>(pushes + (m << 2));
    total += load<f32>(distances + (m << 2)) + push;
    strongest = max<f32>(strongest, push);
  }
  if (!(total < largest)) return false;
  const gradient = gradientOf(place);
  memory.fill(gradient, 0, rowBytes);
  const least = strongest * cutoff;
  let moved = 0;
  for (let m = 0; m < count; m++) {
    const push = m == 0 ? pull : load<f32>(pushes + (m << 2));
    if (!(push > 0 && (m == 0 || push >= least))) continue;
    keep(place, m, moved++, m == 0 ? push : -push, gradient);
  }
  store<i32>(place, moved, movedAt);
  return true;
}

/** Keeps the direction of the m-th that was drawn as the `to`-th that moves. */
function keep(place: usize, m: i32, to: i32, push: f32, gradient: usize): void {
  const drawn = load<i32>(drawnOf(place) + (m << 2));
  const distance = load<f32>(distancesOf(place) + (m << 2));
  const share = norm == 1 ? push : push / max<f32>(distance, 1e-12);
  store<i32>(movedOf(place) + (to << 2), drawn);
  // Not above the m-th, which is read already.
  store<f32>(pushesOf(place) + (to << 2), push);
  store<f32>(sharesOf(place) + (to << 2), share);
  const difference = differences + <usize>m * rowBytes;
  const direction = directionsOf(place) + <usize>to * directionBytes;
  if (norm == 1) keepSigns(difference, share, gradient, direction);
  else keepDifferences(difference, share, gradient, direction);
}

/** The given entity with the relation added to it, or taken from it. */
function composeQuery(place: usize): void {
  const side = load<f32>(place, sideAt);
  const given = entities + <usize>load<i32>(place, givenAt) * rowBytes;
  const relation = relations + <usize>load<i32>(place, relationAt) * rowBytes;
  const sides = f32x4.splat(side);
  let at: usize = 0;
  for (; at < wholeBytes; at += 16) {
    v128.store(query + at, f32x4.add(v128.load(given + at), f32x4.mul(sides, v128.load(relation + at))));
  }
  for (; at < rowBytes; at += 4) store<f32>(query + at, load<f32>(given + at) + side * load<f32>(relation + at));
}

function absoluteDistance(row: usize, kept: usize): f32 {
  let sums = f32x4.splat(0);
  let others = f32x4.splat(0);
  let at: usize = 0;
  for (; at + 32 <= wholeBytes; at += 32) {
    const first = f32x4.sub(v128.load(query + at), v128.load(row + at));
    const second = f32x4.sub(v128.load(query + at, 16), v128.load(row + at, 16));
    v128.store(kept + at, first);
    v128.store(kept + at, second, 16);
    sums = f32x4.add(sums, f32x4.abs(first));
    others = f32x4.add(others, f32x4.abs(second));
  }
  sums = f32x4.add(sums, others);
  for (; at < wholeBytes; at += 16) {
    const difference = f32x4.sub(v128.load(query + at), v128.load(row + at));
    v128.store(kept + at, difference);
    sums = f32x4.add(sums, f32x4.abs(difference));
  }
  let sum = lanes(sums);
  for (; at < rowBytes; at += 4) {
    const difference = load<f32>(query + at) - load<f32>(row + at);
    store<f32>(kept + at, difference);
    sum += abs<f32>(difference);
  }
  return sum;
}

function euclideanDistance(row: usize, kept: usize): f32 {
  let sums = f32x4.splat(0);
  let at: usize = 0;
  for (; at < wholeBytes; at += 16) {
    const difference = f32x4.sub(v128.load(query + at), v128.load(row + at));
    v128.store(kept + at, difference);
    sums = f32x4.add(sums, f32x4.mul(difference, difference));
  }
  let sum = lanes(sums);
  for (; at < rowBytes; at += 4) {
    const difference = load<f32>(query + at) - load<f32>(row + at);
    store<f32>(kept + at, difference);
    sum += difference * difference;
  }
  return sqrt<f32>(sum);
}

/** The sum of the lanes. */
function lanes(x: v128): f32 {
  return f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + (f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3));
}

/** `lossGradient` of the hinge: fills the pushes of negatives, from 1 on, with the sign turned; returns that of the answer. */
function followHinge(distances: usize, count: i32, pushes: usize): f32 {
  const limit = margin + load<f32>(distances);
  let violated = 0;
  for (let j = 1; j <= count; j++) {
    const violates = limit > load<f32>(distances + (j << 2));
    store<f32>(pushes + (j << 2), violates ? 1 / <f32>count : 0);
    violated += i32(violates);
  }
  return count == 0 ? 0 : <f32>violated / <f32>count;
}

/** Self-adversarial variant of `followHinge`. */
function followSigmoids(distances: usize, count: i32, pushes: usize): f32 {
  const positive = f32x4.extract_lane(sigmoid(f32x4.splat(load<f32>(distances) - margin)), 0);
  let nearest: f32 = Infinity;
  for (let j = 1; j <= count; j++) nearest = min<f32>(nearest, load<f32>(distances + (j << 2)));
  let sums: f32 = 0;
  for (let j = 1; j <= count; j += 4) {
    const weights = exponential(
      f32x4.mul(f32x4.splat(temperature), f32x4.sub(f32x4.splat(nearest), v128.load(distances + (j << 2)))),
    );
    v128.store(pushes + (j << 2), weights);
  }
  for (let j = 1; j <= count; j++) sums += load<f32>(pushes + (j << 2));
  const half = f32x4.splat(0.5 / sums);
  for (let j = 1; j <= count; j += 4) {
    const nearness = sigmoid(f32x4.sub(f32x4.splat(margin), v128.load(distances + (j << 2))));
    v128.store(pushes + (j << 2), f32x4.mul(f32x4.mul(half, v128.load(pushes + (j << 2))), nearness));
  }
  return 0.5 * positive;
}

/** Adds `share` times the signs of a difference to the gradient, and keeps the signs, four a byte. */
function keepSigns(difference: usize, share: f32, gradient: usize, direction: usize): void {
  const shares = f32x4.splat(share);
  const top = i32x4.splat(0x80000000);
  let at: usize = 0;
  for (; at < wholeBytes; at += 16) {
    const values = v128.load(difference + at);
    const signed = v128.xor(shares, v128.and(values, top));
    v128.store(gradient + at, f32x4.add(v128.load(gradient + at), signed));
    store<u8>(direction + (at >> 4), i32x4.bitmask(values));
  }
  if (at == rowBytes) return;
  let bits: u32 = 0;
  for (let bit: u32 = 0; at < rowBytes; at += 4, bit++) {
    const negative = load<u32>(difference + at) >>> 31;
    store<f32>(gradient + at, load<f32>(gradient + at) + (negative ? -share : share));
    bits |= negative << bit;
  }
  store<u8>(direction + (wholeBytes >> 4), bits);
}

/** Variant of `keepSigns` with the difference itself. */
function keepDifferences(difference: usize, share: f32, gradient: usize, direction: usize): void {
  const shares = f32x4.splat(share);
  let at: usize = 0;
  for (; at < wholeBytes; at += 16) {
    const values = v128.load(difference + at);
    v128.store(direction + at, values);
    v128.store(gradient + at, f32x4.add(v128.load(gradient + at), f32x4.mul(shares, values)));
  }
  for (; at < rowBytes; at += 4) {
    const value = load<f32>(difference + at);
    store<f32>(direction + at, value);
    store<f32>(gradient + at, load<f32>(gradient + at) + share * value);
  }
}
