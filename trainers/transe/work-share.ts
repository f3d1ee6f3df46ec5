/** One thread's share of an epoch and of a validation; a single thread's share is all of it. */
import { knownAnswers, type KnownAnswers } from '../../src/embedding/known-answers.js';
import { rankShare } from '../../src/embedding/rank-links.js';
import type { Rng } from '../../src/run/seeds.js';
import { createBarrier } from '../../src/run/shared-memory.js';
import { createBatchStep } from './batch-step.js';
import { simdTraining } from './simd-training.js';
import type { StepOptions } from './compare-triple.js';
import { createStep } from './train-step.js';
import { corruptsTail, lossEvery, placeStream, type TransEWork } from './transe-work.js';

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
  return work.settings.batchSize === 1 ? singly(work) : inBatches(work);
}

// Steps are made once a thread: V8 compiles closures with their variables as constants as long as there is one of each,
// and makes them a quarter faster so.

/** One triple a batch: each learns from the one before. */
function singly(work: TransEWork): WorkShare['train'] {
  const { order, losses, begun } = work;
  const count = order.length;
  const step = createStep(stepOptions(work));
  const train = (begin: number, end: number, rng: Rng, learningRate: number) => {
    for (let i = begin; i < end; i++) {
      begun[0] = i;
      step.train(order[i]!, corruptsTail(work, order[i]!, rng), learningRate, rng);
      if (i === begin) losses[i / lossEvery] = step.lastLoss();
    }
  };
  return function* (_share, epoch, learningRate) {
    const rng = placeStream(work, epoch, 0);
    for (let begin = 0; begin < count; begin += lossEvery) {
      const end = Math.min(begin + lossEvery, count);
      train(begin, end, rng, learningRate);
      yield end;
    }
  };
}

function inBatches(work: TransEWork): WorkShare['train'] {
  const { order, losses, begun } = work;
  const { batchSize } = work.settings;
  const count = order.length;
  const step = createBatchStep(stepOptions(work), work.batch!);
  return function* ({ thread, threads }, epoch, learningRate) {
    const wait = createBarrier(work.barrier, threads);
    const streams: Rng[] = [];
    for (let place = thread; place < batchSize; place += threads) streams[place] = placeStream(work, epoch, place);
    for (let begin = 0; begin < count; begin += batchSize) {
      const size = Math.min(batchSize, count - begin);
      // All threads write the same: none comes to another batch while one is in this.
      begun[0] = begin;
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
  };
}

const stepOptions = ({ state, settings, train, trainSet }: TransEWork): StepOptions => ({
  state,
  settings,
  triples: train,
  known: trainSet,
});
