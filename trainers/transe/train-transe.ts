/** TransE training: epochs over a seeded shuffle, validation by filtered MRR, early stop, best weights. */
import type { EmbeddingTable } from '../../src/embedding/embedding-table.js';
import { knownAnswers } from '../../src/embedding/known-answers.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import { evaluateLinks } from '../../src/embedding/rank-links.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { tailCorruptionChance } from './corruption.js';
import type { TransESettings } from './settings.js';
import { createStep } from './train-step.js';
import type { TransEState } from './transe-state.js';
import { createTransE } from './transe-state.js';
import { createTripleSet } from './triple-set.js';

/** The loss of every n-th positive is taken: its logarithms would cost as much as the rest of a step. */
const lossEvery = 32;
/** Positives between two looks at the clock of a caller who shows progress. */
const reportEvery = 8192;

export interface EpochReport {
  /** Epochs done. */
  epoch: number;
  /** Mean loss over a fixed share of the epoch's positives, each before its update. */
  loss: number;
  learningRate: number;
  /** On the held-out triples, where this epoch validated. */
  metrics?: LinkMetrics;
}

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
  /** A state of the same data, settings and seed; training goes on in its arrays. */
  resumeFrom?: TransEState;
  onEpoch?: (report: EpochReport, state: TransEState) => void;
  /** Positives done of those of all epochs; called some times a second. */
  onProgress?: (done: number, total: number) => void;
  /** Looked at after each epoch; training then ends with what it has and `stopped` is true. */
  signal?: AbortSignal;
}

export interface TransEResult {
  /** The best validated weights, else the last. */
  table: EmbeddingTable;
  /** Of that table; absent without validation triples. */
  metrics?: LinkMetrics;
  state: TransEState;
  stopped: boolean;
}

/**
 * Trains on one thread. Same input and seed give the same bytes, also when a run is continued from any epoch's state.
 * Updates are made positive by positive: with sparse rows there is nothing to gain from summing gradients first, and
 * rows stay in cache from their distance to their update.
 * @throws WorkbenchError `failure` when the loss is no longer finite
 */
export async function trainTransE(options: TransEOptions): Promise<TransEResult> {
  const { train, valid, settings, seed, onEpoch, onProgress, signal } = options;
  const state = options.resumeFrom ?? createTransE(options);
  const { table } = state;
  const count = train.heads.length;
  const step = createStep({ state, settings, triples: train, known: createTripleSet(train) });
  const tailChance = tailCorruptionChance(train, table.numRelations);
  const held = valid && valid.heads.length > 0 ? valid : undefined;
  const filter = held && knownAnswers([train, held, ...(options.known ?? [])], table.numRelations);
  const finished = () => state.epoch >= settings.epochs || state.checksWithoutGain >= settings.patience;

  while (!finished() && !signal?.aborted) {
    const { epoch } = state;
    const learningRate = settings.learningRate * (settings.schedule === 'linear' ? 1 - epoch / settings.epochs : 1);
    const order = Rng.named(seed, 'transe/shuffle', epoch).shuffle(Int32Array.from({ length: count }, (_, i) => i));
    const rng = Rng.named(seed, 'transe/negatives', epoch);
    let loss = 0;
    for (let i = 0; i < count; i++) {
      const index = order[i]!;
      const chance = settings.bernoulli ? tailChance[train.relations[index]!]! : 0.5;
      step.train(index, rng.uniform() < chance, learningRate, rng);
      if (i % lossEvery === 0) loss += step.lastLoss();
      if (i % reportEvery === 0) onProgress?.(epoch * count + i, settings.epochs * count);
    }
    if (!Number.isFinite(loss)) {
      throw new WorkbenchError('failure', `expected a finite loss, got ${loss}, at TransE epoch ${epoch + 1}`, {
        hint: 'Lower transe.learningRate.',
      });
    }
    state.epoch++;
    const report: EpochReport = {
      epoch: state.epoch,
      loss: loss / Math.max(1, Math.ceil(count / lossEvery)),
      learningRate,
    };
    const validates = state.epoch % settings.evalEvery === 0 || state.epoch === settings.epochs;
    if (held && filter && validates) {
      report.metrics = evaluateLinks(table, held, filter);
      keepBest(state, report.metrics);
    }
    onEpoch?.(report, state);
    // Lets signals and other work of the process through.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { best } = state;
  return {
    table: best ? { ...table, entities: best.entities, relations: best.relations } : table,
    ...(best && { metrics: best.metrics }),
    state,
    stopped: !finished(),
  };
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
