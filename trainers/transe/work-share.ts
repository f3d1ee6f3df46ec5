/** One thread's share of an epoch and of a validation; a single thread's share is all of it. */
import { knownAnswers } from '../../src/embedding/known-answers.js';
import type { KnownAnswers } from '../../src/embedding/known-answers.js';
import { rankShare } from '../../src/embedding/rank-links.js';
import type { Rng } from '../../src/run/seeds.js';
import { createBarrier } from '../../src/run/workers/barrier.js';
import { createBatchStep } from './batch-step.js';
import { simdTraining } from './simd-training.js';
import { createStep } from './train-step.js';
import { corruptsTail, lossEvery, placeStream } from './transe-work.js';
import type { TransEWork } from './transe-work.js';

/** Which thread of how many. */
export interface Share {
  thread: number;
  threads: number;
}

/** Does one share of the work. */
export interface WorkShare {
  /**
   * Trains an epoch in `work.order`, telling the positives done now and then; all threads of the share must do so to the
   * end, at the same time.
   * @throws Diverged before the weights follow a triple, and any of its batch, whose numbers are not finite
   */
  train(share: Share, epoch: number, learningRate: number): Iterable<number>;
  /** Fills its places of `work.valid.ranks`. */
  rank(share: Share): void;
}

/**
 * Prepares a thread. Bytes do not depend on the number of threads: places of a batch draw from streams of their own, their
 * gradients are taken from the weights before the batch, and each row is moved by one thread in the order of the places.
 */
export function openShare(work: TransEWork): WorkShare {
  const { valid } = work;
  let known: KnownAnswers | undefined;
  return {
    train: work.simd ? simdTraining(work) : plainTraining(work),
    rank({ thread, threads }) {
      const { triples, known: parts, ranks } = valid!;
      known ??= knownAnswers(parts, triples);
      rankShare(work.state.table, triples, known, ranks, thread, threads);
    },
  };
}

function plainTraining(work: TransEWork): WorkShare['train'] {
  const { settings, train, order, losses } = work;
  const options = { state: work.state, settings, triples: train, known: work.trainSet };
  const count = order.length;

  /** One triple a batch: each learns from the one before. */
  function* singly(_share: Share, epoch: number, learningRate: number): Generator<number> {
    const step = createStep(options);
    const rng = placeStream(work, epoch, 0);
    for (let i = 0; i < count; i++) {
      work.begun[0] = i;
      step.train(order[i]!, corruptsTail(work, order[i]!, rng), learningRate, rng);
      if (i % lossEvery !== 0) continue;
      losses[i / lossEvery] = step.lastLoss();
      yield i;
    }
  }

  function* inBatches({ thread, threads }: Share, epoch: number, learningRate: number): Generator<number> {
    const { batchSize } = settings;
    const step = createBatchStep(options, work.batch!);
    const wait = createBarrier(work.barrier, threads);
    const streams: Rng[] = [];
    for (let place = thread; place < batchSize; place += threads) streams[place] = placeStream(work, epoch, place);
    for (let begin = 0; begin < count; begin += batchSize) {
      const size = Math.min(batchSize, count - begin);
      // All threads write the same: none comes to another batch while one is in this.
      work.begun[0] = begin;
      for (let place = thread; place < size; place += threads) {
        const i = begin + place;
        const rng = streams[place]!;
        step.gradients(place, order[i]!, corruptsTail(work, order[i]!, rng), rng);
        if (i % lossEvery === 0) losses[i / lossEvery] = step.lastLoss();
      }
      wait();
      step.apply(size, learningRate, thread, threads);
      wait();
      if (thread === 0) yield begin + size;
    }
  }

  return settings.batchSize === 1 ? singly : inBatches;
}
