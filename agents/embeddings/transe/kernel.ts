/** TransE training by SIMD kernels. */
import type { Kernels } from '../../../src/nn/simd/kernels.js';
import { Diverged } from '../../../src/nn/diverged.js';
import type { TransESettings } from './settings.js';
import { lossEvery, openTransEKernels, placeStream, type Share, type TransEWork } from './work.js';

/** Trains positives of `work.order`. */
interface TransEKernel {
  /** Called before each epoch. */
  begin(epoch: number, share: Share): void;
  /**
   * Trains one positive after another, each on the weights after the previous one.
   * @throws Diverged before the weights follow one whose numbers are not finite
   */
  train(begin: number, size: number, learningRate: number): void;
  /** Computes a share's gradients of a batch from unchanged weights. @throws Diverged for numbers that are not finite */
  gradients(begin: number, size: number, share: Share): void;
  /**
   * Applies the gradients of a batch in its order to the rows of the share (row number modulo threads = thread), so that
   * each row moves as on one thread.
   */
  moves(size: number, learningRate: number, share: Share): void;
}

export function transEKernel(work: TransEWork): TransEKernel {
  const { settings, order, losses, places, streams } = work;
  const distances = new Float64Array(settings.negatives);
  const weights = new Float64Array(settings.negatives);
  let kernels: Kernels;
  const positives = (begin: number) => order.byteOffset + begin * 4;

  /** Loss of a compared position before its moves. */
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
      if (done < size) throw beyondFloat32();
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

const beyondFloat32 = (): Diverged => new Diverged({ tensor: 'distances in float32', index: 0, value: NaN });

/**
 * Loss of a true triple.
 *
 * `self-adversarial`: −½ [log σ(margin − d⁺) + Σ wⱼ log σ(dⱼ − margin)], weights w = softmax(−temperature · d), held fixed.
 * `margin`: the mean over negatives of max(0, margin + d⁺ − dⱼ).
 * @param positive distance of the true triple
 * @param negatives distances of the corrupted ones
 * @param count number of negatives
 * @param weights scratch of at least `count`
 * @source Sun et al. 2019 (RotatE), equations 5 and 6; Bordes et al. 2013 (TransE), equation 1
 */
function lossValue(
  { loss, margin, temperature }: Pick<TransESettings, 'loss' | 'margin' | 'temperature'>,
  positive: number,
  negatives: Float64Array,
  count: number,
  weights: Float64Array,
): number {
  let sum = 0;
  if (loss === 'margin') {
    for (let j = 0; j < count; j++) sum += Math.max(0, margin + positive - negatives[j]!);
    return count === 0 ? 0 : sum / count;
  }
  adversarialWeights(temperature, negatives, count, weights);
  for (let j = 0; j < count; j++) sum += weights[j]! * softplus(margin - negatives[j]!);
  return 0.5 * (softplus(positive - margin) + sum);
}

function adversarialWeights(temperature: number, negatives: Float64Array, count: number, weights: Float64Array): void {
  let nearest = Infinity;
  for (let j = 0; j < count; j++) if (negatives[j]! < nearest) nearest = negatives[j]!;
  let sum = 0;
  for (let j = 0; j < count; j++) sum += weights[j] = Math.exp(temperature * (nearest - negatives[j]!));
  for (let j = 0; j < count; j++) weights[j]! /= sum;
}

/** −log σ(−x), without overflow. */
const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
