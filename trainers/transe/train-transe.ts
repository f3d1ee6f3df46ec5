/** TransE training: epochs over a seeded shuffle, validation by filtered MRR, early stop, best weights. */
import type { TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Diverged, explained, lossOrNot } from '../../src/tensor/diverged.js';
import { trainEpochs, type EpochReport, type TableResult } from '../embeddings/epochs.js';
import { openCrew } from './crew.js';
import { createComparison } from './plain.js';
import type { TransESettings } from './settings.js';
import {
  corruptsTail,
  createTransE,
  createWork,
  orderEpoch,
  placeStream,
  type TransEState,
  type TransEWork,
} from './work.js';

/** What is trained on which triples, from where on, and who is told. */
export interface TransEOptions {
  numEntities: number;
  numRelations: number;
  /** Also the triples that are never drawn as negatives. */
  train: TripleColumns;
  /** Held-out triples; without them all epochs run and the last weights are taken. */
  valid?: TripleColumns;
  /** Further true triples, left out of validation ranks beside those of train and valid. */
  known?: readonly TripleColumns[];
  settings: TransESettings;
  seed: number;
  /** A state of the same data, settings and seed; training goes on in its arrays, or in copies (`createWork`). */
  resumeFrom?: TransEState | undefined;
  /** Threads that train and rank; default 1: this one. They change no byte. */
  threads?: number | undefined;
  onEpoch?: (report: EpochReport, state: TransEState) => void;
  /** Told a batch that diverged, with the state before it; what it returns is thrown instead. */
  onDiverged?: ((error: Diverged, state: TransEState) => unknown) | undefined;
  /** Positives done of those of all epochs; called some times a second. */
  onProgress?: (done: number, total: number) => void;
  /** Looked at after each epoch; training then ends with what it has and `stopped` is true. */
  signal?: AbortSignal | undefined;
}

/** The table to use, and the state to go on from. */
export type TransEResult = TableResult<TransEState>;

/**
 * Trains. Same input and seed give the same bytes, on however many threads, also when a run is continued from any epoch's
 * state. With `batchSize` 1 updates are made positive by positive: each learns from the ones before it, and rows stay in
 * cache from their distance to their update.
 * @throws Diverged before a batch with numbers that are not finite, WorkbenchError `failure` when a thread dies
 */
export async function trainTransE(options: TransEOptions): Promise<TransEResult> {
  const { settings, threads = 1, onEpoch, onDiverged, onProgress, signal } = options;
  const work = createWork({ ...options, state: options.resumeFrom ?? createTransE(options) }, threads);
  const { state, losses, valid } = work;
  const count = options.train.heads.length;
  const crew = openCrew(work, threads);
  async function train(learningRate: number): Promise<number> {
    const { epoch } = state;
    orderEpoch(work);
    await crew.train(epoch, learningRate, (done) => onProgress?.(epoch * count + done, settings.epochs * count));
    return losses.reduce((sum, one) => sum + one, 0) / Math.max(1, losses.length);
  }
  async function rank(): Promise<Float64Array> {
    await crew.rank();
    return valid!.ranks;
  }
  try {
    return await trainEpochs(state, settings, { train, rank: valid && rank, onEpoch, signal });
  } catch (error) {
    throw (await divergence(work, onDiverged)) ?? error;
  } finally {
    await crew.close();
  }
}

/** What to throw, or a promise of it, where the batch that was begun last diverges; undefined where all of it is finite. */
function divergence(work: TransEWork, onDiverged: TransEOptions['onDiverged']): unknown {
  try {
    repeatBatch(work, work.begun[0]!);
    return undefined;
  } catch (error) {
    return error instanceof Diverged && onDiverged ? onDiverged(error, work.state) : error;
  }
}

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
