/** TransE training: epochs over a seeded shuffle, validation by filtered MRR, early stop, best weights. */
import { setImmediate } from 'node:timers/promises';
import type { EmbeddingTable } from '../../src/embedding/transe.js';
import { type LinkMetrics, linkMetrics } from '../../src/embedding/rank-links.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { Diverged } from '../../src/tensor/diverged.js';
import { openCrew } from './crew.js';
import { repeatBatch } from './repeat-batch.js';
import type { TransESettings } from './settings.js';
import { createTransE, type TransEState } from './transe-state.js';
import { createWork, orderEpoch, type TransEWork } from './transe-work.js';

/** Figures of one epoch. */
export interface EpochReport {
  /** Epochs done. */
  epoch: number;
  /** Mean loss over a fixed share of the epoch's positives, each before its update. */
  loss: number;
  learningRate: number;
  /** On the held-out triples, where this epoch validated. */
  metrics?: LinkMetrics;
}

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
  resumeFrom?: TransEState;
  /** Threads that train and rank; default 1: this one. They change no byte. */
  threads?: number | undefined;
  onEpoch?: (report: EpochReport, state: TransEState) => void;
  /** Told a batch that diverged, with the state before it; what it returns is thrown instead. */
  onDiverged?: ((error: Diverged, state: TransEState) => unknown) | undefined;
  /** Positives done of those of all epochs; called some times a second. */
  onProgress?: (done: number, total: number) => void;
  /** Looked at after each epoch; training then ends with what it has and `stopped` is true. */
  signal?: AbortSignal;
}

/** The table to use, and the state to go on from. */
export interface TransEResult {
  /** The best validated weights, else the last. */
  table: EmbeddingTable;
  /** Of that table; absent without validation triples. */
  metrics?: LinkMetrics;
  state: TransEState;
  stopped: boolean;
}

/**
 * Trains. Same input and seed give the same bytes, on however many threads, also when a run is continued from any epoch's
 * state. With `batchSize` 1 updates are made positive by positive: each learns from the ones before it, and rows stay in
 * cache from their distance to their update.
 * @throws Diverged before a batch with numbers that are not finite, WorkbenchError `failure` when a thread dies
 */
export async function trainTransE(options: TransEOptions): Promise<TransEResult> {
  const { train, settings, threads = 1, onEpoch, onProgress, signal } = options;
  const work = createWork({ ...options, state: options.resumeFrom ?? createTransE(options) }, threads);
  const { state } = work;
  const { table } = state;
  const count = train.heads.length;
  const finished = () => state.epoch >= settings.epochs || state.checksWithoutGain >= settings.patience;
  const crew = openCrew(work, threads);
  try {
    while (!finished() && !signal?.aborted) {
      const { epoch } = state;
      const learningRate = settings.learningRate * (settings.schedule === 'linear' ? 1 - epoch / settings.epochs : 1);
      orderEpoch(work);
      await crew.train(epoch, learningRate, (done) => onProgress?.(epoch * count + done, settings.epochs * count));
      const loss = work.losses.reduce((sum, one) => sum + one, 0);
      state.epoch++;
      const report: EpochReport = { epoch: state.epoch, loss: loss / Math.max(1, work.losses.length), learningRate };
      if (work.valid && (state.epoch % settings.evalEvery === 0 || state.epoch === settings.epochs)) {
        await crew.rank();
        report.metrics = linkMetrics(work.valid.ranks);
        keepBest(state, report.metrics);
      }
      onEpoch?.(report, state);
      // Lets signals and other work of the process through.
      await setImmediate();
    }
  } catch (error) {
    throw (await divergence(work, options.onDiverged)) ?? error;
  } finally {
    await crew.close();
  }
  const { best } = state;
  return {
    table: best ? { ...table, entities: best.entities, relations: best.relations } : table,
    ...(best && { metrics: best.metrics }),
    state,
    stopped: !finished(),
  };
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

function keepBest(state: TransEState, metrics: LinkMetrics): void {
  if (state.best && metrics.mrr <= state.best.metrics.mrr) {
    state.checksWithoutGain++;
    return;
  }
  const { entities, relations } = state.table;
  state.best = { epoch: state.epoch, metrics, entities: entities.slice(), relations: relations.slice() };
  state.checksWithoutGain = 0;
}
