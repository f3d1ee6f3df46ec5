// @ts-nocheck AssemblyScript: its compiler checks.
/** Entry points of trainers: blocks of positives, and the moves of rows that their comparisons left behind. */
import { compare } from './transe-compare.ts';
import { draw } from './transe-draw.ts';
import {
  adagrad,
  dim,
  directionBytes,
  directionsOf,
  distancesOf,
  drawnAt,
  entities,
  entitySquares,
  givenAt,
  gradientOf,
  movedAt,
  movedOf,
  norm,
  placeOf,
  pushesOf,
  relationAt,
  relations,
  relationSquares,
  rowBytes,
  sharesOf,
  sideAt,
  signs,
  streams,
  wholeBytes,
} from './transe-state.ts';

/**
 * Trains positives one by one, each after the moves of the ones before, all with draws from the first stream.
 * @param order int32 [count]: numbers of triples
 * @returns `count`, or the place of the first whose numbers are not finite in float32: neither it nor a later one is moved
 */
export function transeTrain(order: usize, count: i32, learningRate: f64): i32 {
  for (let place = 0; place < count; place++) draw(place, load<i32>(order + (place << 2)), streams);
  for (let place = 0; place < count; place++) {
    if (!compare(placeOf(place))) return place;
    move(placeOf(place), learningRate, 0, 1);
  }
  return count;
}

/** The gradients of places `thread`, `thread + threads` … under the weights as they are. Returns as `transeTrain`. */
export function transeGradients(order: usize, count: i32, thread: i32, threads: i32): i32 {
  for (let place = thread; place < count; place += threads) {
    draw(place, load<i32>(order + (place << 2)), streams + (place << 4));
  }
  for (let place = thread; place < count; place += threads) if (!compare(placeOf(place))) return place;
  return count;
}

/** Makes the moves of all places, in their order, of the rows whose number modulo `owners` is `owner`. */
export function transeMoves(count: i32, learningRate: f64, owner: i32, owners: i32): void {
  for (let place = 0; place < count; place++) move(placeOf(place), learningRate, owner, owners);
}

/** Byte offset of float32 distances of a place: of its answer, then of `transeDrawn(place) - 1` negatives. */
export function transeDistances(place: i32): usize {
  return distancesOf(placeOf(place));
}

/** Number of distances of a place. */
export function transeDrawn(place: i32): i32 {
  return load<i32>(placeOf(place), drawnAt);
}

/** Makes the moves of a place in their order: those compared, the given entity, the relation. Only rows of `owner` move. */
function move(place: usize, learningRate: f64, owner: i32, owners: i32): void {
  const count = load<i32>(place, movedAt);
  const square1: f64 = norm == 1 ? 1 : 1 / <f64>dim;
  for (let m = 0; m < count; m++) {
    const entity = load<i32>(movedOf(place) + (m << 2));
    if (owners > 1 && entity % owners != owner) continue;
    const push = <f64>load<f32>(pushesOf(place) + (m << 2));
    const share = <f64>load<f32>(sharesOf(place) + (m << 2));
    const step = <f32>(stepSize(entitySquares, entity, push * push * square1, learningRate) * share);
    const direction = directionsOf(place) + <usize>m * directionBytes;
    const row = entities + <usize>entity * rowBytes;
    if (norm == 1) addSigns(row, step, direction);
    else addScaled(row, step, direction);
  }
  const given = load<i32>(place, givenAt);
  const relation = load<i32>(place, relationAt);
  const movesGiven = owners == 1 || given % owners == owner;
  const movesRelation = owners == 1 || relation % owners == owner;
  if (!movesGiven && !movesRelation) return;
  const gradient = gradientOf(place);
  const square = meanSquare(gradient);
  if (movesGiven) {
    const step = stepSize(entitySquares, given, square, learningRate);
    addScaled(entities + <usize>given * rowBytes, <f32>-step, gradient);
  }
  if (movesRelation) {
    const step = <f64>load<f32>(place, sideAt) * stepSize(relationSquares, relation, square, learningRate);
    addScaled(relations + <usize>relation * rowBytes, <f32>-step, gradient);
  }
}

/** `rowSteps` of `agents/embeddings/transe`. */
function stepSize(squares: usize, row: i32, square: f64, learningRate: f64): f64 {
  if (!adagrad || square == 0) return learningRate;
  const at = squares + ((<usize>row) << 3);
  const sum = load<f64>(at) + square;
  store<f64>(at, sum);
  return learningRate / sqrt<f64>(sum);
}

function addSigns(row: usize, step: f32, direction: usize): void {
  const steps = f32x4.splat(step);
  let at: usize = 0;
  for (; at < wholeBytes; at += 16) {
    const sign = v128.load(signs + ((<usize>load<u8>(direction + (at >> 4))) << 4));
    v128.store(row + at, f32x4.add(v128.load(row + at), v128.xor(steps, sign)));
  }
  if (at == rowBytes) return;
  const bits = <u32>load<u8>(direction + (at >> 4));
  for (let bit: u32 = 0; at < rowBytes; at += 4, bit++) {
    store<f32>(row + at, load<f32>(row + at) + ((bits >> bit) & 1 ? -step : step));
  }
}

function addScaled(row: usize, step: f32, values: usize): void {
  const steps = f32x4.splat(step);
  let at: usize = 0;
  for (; at < wholeBytes; at += 16) {
    v128.store(row + at, f32x4.add(v128.load(row + at), f32x4.mul(steps, v128.load(values + at))));
  }
  for (; at < rowBytes; at += 4) store<f32>(row + at, load<f32>(row + at) + step * load<f32>(values + at));
}

function meanSquare(values: usize): f64 {
  let sums = f32x4.splat(0);
  let at: usize = 0;
  for (; at < wholeBytes; at += 16) {
    const four = v128.load(values + at);
    sums = f32x4.add(sums, f32x4.mul(four, four));
  }
  let sum =
    f32x4.extract_lane(sums, 0) +
    f32x4.extract_lane(sums, 1) +
    (f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3));
  for (; at < rowBytes; at += 4) sum += load<f32>(values + at) * load<f32>(values + at);
  return <f64>sum / <f64>dim;
}
