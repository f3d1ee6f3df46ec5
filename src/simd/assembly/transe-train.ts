/** What trainers call: blocks of positives. */
import { compare } from './transe-compare';
import { draw } from './transe-draw';
import { move } from './transe-move';
import { distancesOf, drawnAt, placeOf, streams } from './transe-state';

/** @see Kernels.transeTrain in `../kernels.ts`, as of the other functions here */
export function transeTrain(order: usize, count: i32, learningRate: f64): i32 {
  for (let place = 0; place < count; place++) draw(place, load<i32>(order + (place << 2)), streams);
  for (let place = 0; place < count; place++) {
    if (!compare(placeOf(place))) return place;
    move(placeOf(place), learningRate, 0, 1);
  }
  return count;
}

/** @see transeTrain */
export function transeGradients(order: usize, count: i32, thread: i32, threads: i32): i32 {
  for (let place = thread; place < count; place += threads) {
    draw(place, load<i32>(order + (place << 2)), streams + (place << 4));
  }
  for (let place = thread; place < count; place += threads) if (!compare(placeOf(place))) return place;
  return count;
}

/** @see transeTrain */
export function transeMoves(count: i32, learningRate: f64, owner: i32, owners: i32): void {
  for (let place = 0; place < count; place++) move(placeOf(place), learningRate, owner, owners);
}

/** @see transeTrain */
export function transeDistances(place: i32): usize {
  return distancesOf(placeOf(place));
}

/** @see transeTrain */
export function transeDrawn(place: i32): i32 {
  return load<i32>(placeOf(place), drawnAt);
}
