/** Epochs of TransE by the SIMD kernels: the draws and the order of moves of the plain ones, in blocks of positives. */
import type { Rng } from '../../src/run/seeds.js';
import { createBarrier } from '../../src/run/shared-memory.js';
import { Diverged } from '../../src/tensor/diverged.js';
import { lossValue } from './losses.js';
import { leastBlock, openTransEKernels } from './simd-room.js';
import { lossEvery, placeStream, type TransEWork } from './transe-work.js';
import type { Share, WorkShare } from './work-share.js';

/** `WorkShare.train` of a work in the memory of kernels. */
export function simdTraining(work: TransEWork): WorkShare['train'] {
  const { settings, order, losses, begun } = work;
  const { batchSize } = settings;
  const { streams } = work.simd!;
  const count = order.length;

  function* singly({ thread }: Share, epoch: number, learningRate: number): Generator<number> {
    const kernels = openTransEKernels(work, thread);
    const lossOf = lossReader(work, kernels);
    seed(streams, 0, placeStream(work, epoch, 0));
    for (let begin = 0; begin < count; begin += leastBlock) {
      const size = Math.min(leastBlock, count - begin);
      begun[0] = begin;
      const done = kernels.transeTrain(order.byteOffset + begin * 4, size, learningRate);
      if (done < size) {
        begun[0] = begin + done;
        throw beyondFloat32();
      }
      for (let place = 0; place < size; place += lossEvery) losses[(begin + place) / lossEvery] = lossOf(place);
      yield begin + size;
    }
  }

  function* inBatches({ thread, threads }: Share, epoch: number, learningRate: number): Generator<number> {
    const kernels = openTransEKernels(work, thread);
    const lossOf = lossReader(work, kernels);
    const wait = createBarrier(work.barrier, threads);
    for (let place = thread; place < Math.min(batchSize, count); place += threads) {
      seed(streams, place, placeStream(work, epoch, place));
    }
    for (let begin = 0; begin < count; begin += batchSize) {
      const size = Math.min(batchSize, count - begin);
      // All threads write the same: none comes to another batch while one is in this.
      begun[0] = begin;
      if (kernels.transeGradients(order.byteOffset + begin * 4, size, thread, threads) < size) throw beyondFloat32();
      for (let place = thread; place < size; place += threads) {
        if ((begin + place) % lossEvery === 0) losses[(begin + place) / lossEvery] = lossOf(place);
      }
      wait();
      kernels.transeMoves(size, learningRate, thread, threads);
      wait();
      if (thread === 0) yield begin + size;
    }
  }

  return batchSize === 1 ? singly : inBatches;
}

/** Puts a generator where the kernels draw from it, low words first. */
function seed(streams: Int32Array, place: number, rng: Rng): void {
  const [s01, s00, s11, s10] = rng.state() as [number, number, number, number];
  streams.set([s00, s01, s10, s11], place * 4);
}

/** Reads the loss of a place that was compared, before its moves. */
function lossReader({ settings, simd }: TransEWork, kernels: ReturnType<typeof openTransEKernels>) {
  const { places } = simd!;
  const distances = new Float64Array(settings.negatives);
  const weights = new Float64Array(settings.negatives);
  return (place: number): number => {
    const at = (kernels.transeDistances(place) - places.byteOffset) / 4;
    const count = kernels.transeDrawn(place) - 1;
    for (let j = 0; j < count; j++) distances[j] = places[at + 1 + j]!;
    return lossValue(settings, places[at]!, distances, count, weights);
  };
}

/** What stops the epoch; the batch is then made again by the plain kernel, which finds out more (`repeatBatch`). */
function beyondFloat32(): Diverged {
  return new Diverged({ first: { tensor: 'distances in float32', index: 0, value: NaN } });
}
