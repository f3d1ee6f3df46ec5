/** A batch of TransE once more: what was not finite in it, and in which triple. */
import { WorkbenchError } from '../../src/run/errors.js';
import { explained, lossOrNot } from '../../src/tensor/diverged.js';
import { createComparison } from './compare-triple.js';
import { corruptsTail, orderEpoch, placeStream, type TransEWork } from './transe-work.js';

/**
 * Takes the gradients of a batch again, with the draws it had, and moves nothing.
 * @param work whose state is the one before the batch
 * @param begin positives of the epoch before the batch
 * @returns mean loss of the batch
 * @throws WorkbenchError `data` for a batch beyond the epoch's; Diverged at its first triple whose numbers are not finite; a sample is named by its ids: head, relation, tail
 */
export function repeatBatch(work: TransEWork, begin: number): number {
  const { settings, state, train, trainSet, order } = work;
  const { batchSize } = settings;
  if (!(begin < order.length)) {
    throw new WorkbenchError('data', `expected a batch of ${order.length} triples, got one that begins after ${begin}`);
  }
  orderEpoch(work);
  const seen = createComparison({ state, settings, triples: train, known: trainSet });
  const batch = order.subarray(begin, begin + batchSize);
  const compare = (place: number) => {
    const rng = placeStream(work, state.epoch, place);
    for (let i = place; i < begin; i += batchSize) seen.skip(order[i]!, corruptsTail(work, order[i]!, rng), rng);
    const index = batch[place]!;
    seen.compare(index, corruptsTail(work, index, rng), rng);
    return seen.loss();
  };
  const samples = () =>
    Array.from(batch, (index, place) => ({
      id: [train.heads, train.relations, train.tails].map((column) => column[index]).join(' '),
      loss: lossOrNot(() => compare(place)),
    }));
  let sum = 0;
  for (const place of batch.keys()) {
    sum += explained(
      () => ({ place: { epoch: state.epoch + 1, triple: begin + place + 1 }, samples: samples() }),
      () => compare(place),
    );
  }
  return sum / batch.length;
}
