/** TransE training: epochs over a seeded shuffle, validation by filtered MRR, early stop, best weights. */
import type { TripleColumns } from '../../src/kg/graph.js';
import { trainEpochs, type EpochReport, type TableResult } from '../embeddings/epochs.js';
import { openCrew } from './crew.js';
import type { TransESettings } from './settings.js';
import { createTransE, createWork, orderEpoch, type TransEState } from './work.js';

/** Options of a training. */
export interface TransEOptions {
  numEntities: number;
  numRelations: number;
  /** Also the triples that are never drawn as negatives. */
  train: TripleColumns;
  /** Held-out triples; without them all epochs run and the last weights are used. */
  valid?: TripleColumns;
  /** Further true triples, filtered from validation ranks like those of train and valid. */
  known?: readonly TripleColumns[];
  settings: TransESettings;
  seed: number;
  /** State of the same data, settings and seed to resume from; its arrays are copied. */
  resumeFrom?: TransEState | undefined;
  /** Threads that train and rank; default 1: this one. They change no byte. */
  threads?: number | undefined;
  onEpoch?: (report: EpochReport, state: TransEState) => void;
  /** Called a few times per second with the number of positives done, over all epochs. */
  onProgress?: (done: number, total: number) => void;
  /** Checked after each epoch; once aborted, training ends with the state so far and `stopped` is true. */
  signal?: AbortSignal | undefined;
}

/** Final table, and state to resume from. */
export type TransEResult = TableResult<TransEState>;

/**
 * Trains. Same input and seed give the same bytes, on any number of threads, also when resumed from any epoch's state.
 * With `batchSize` 1 updates are made positive by positive: each uses the weights after the previous one, and rows stay
 * in cache from their distance to their update.
 * @throws WorkbenchError `failure` before a batch with numbers that are not finite, or when a thread dies
 */
export async function trainTransE(options: TransEOptions): Promise<TransEResult> {
  const { settings, threads = 1, onEpoch, onProgress, signal } = options;
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
  } finally {
    await crew.close();
  }
}
