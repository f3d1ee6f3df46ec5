/** TransE by the SIMD kernels: the draws and the order of moves of the plain ones. */
import type { Kernels } from '../../src/simd/kernels.js';
import { Diverged } from '../../src/tensor/diverged.js';
import { lossValue } from './losses.js';
import { lossEvery, openTransEKernels, placeStream, type TransEKernel, type TransEWork } from './work.js';

export function simdKernel(work: TransEWork): TransEKernel {
  const { settings, order, losses, begun } = work;
  const { places, streams } = work.simd!;
  const distances = new Float64Array(settings.negatives);
  const weights = new Float64Array(settings.negatives);
  let kernels: Kernels;
  const positives = (begin: number) => order.byteOffset + begin * 4;

  /** The loss of a place that was compared, before its moves. */
  function lossOf(place: number): number {
    const at = (kernels.transeDistances(place) - places.byteOffset) / 4;
    const count = kernels.transeDrawn(place) - 1;
    for (let j = 0; j < count; j++) distances[j] = places[at + 1 + j]!;
    return lossValue(settings, places[at]!, distances, count, weights);
  }

  return {
    begin(epoch, { thread, threads }) {
      kernels = openTransEKernels(work, thread);
      for (let place = thread; place < Math.min(settings.batchSize, order.length); place += threads) {
        // Low words first.
        const [s01, s00, s11, s10] = placeStream(work, epoch, place).state() as [number, number, number, number];
        streams.set([s00, s01, s10, s11], place * 4);
      }
    },
    train(begin, size, learningRate) {
      const done = kernels.transeTrain(positives(begin), size, learningRate);
      if (done < size) {
        begun[0] = begin + done;
        throw beyondFloat32();
      }
      losses[begin / lossEvery] = lossOf(0);
    },
    gradients(begin, size, { thread, threads }) {
      if (kernels.transeGradients(positives(begin), size, thread, threads) < size) throw beyondFloat32();
      for (let place = thread; place < size; place += threads) {
        if ((begin + place) % lossEvery === 0) losses[(begin + place) / lossEvery] = lossOf(place);
      }
    },
    moves: (size, learningRate, { thread, threads }) => kernels.transeMoves(size, learningRate, thread, threads),
  };
}

/** What stops the epoch; the batch is then made again by the plain kernel, which finds out more (`repeatBatch`). */
function beyondFloat32(): Diverged {
  return new Diverged({ first: { tensor: 'distances in float32', index: 0, value: NaN } });
}
