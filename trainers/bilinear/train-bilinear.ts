/** Bilinear training: epochs over a seeded shuffle of queries, validation by filtered MRR, early stop, best weights. */
import { setImmediate } from 'node:timers/promises';
import { bilinearRanks, type BilinearTable } from '../../src/embedding/bilinear.js';
import { knownAnswers } from '../../src/embedding/known-answers.js';
import { linkMetrics, type LinkMetrics } from '../../src/embedding/rank-links.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { Rng } from '../../src/run/seeds.js';
import { Arena } from '../../src/simd/arena.js';
import { openKernels } from '../../src/simd/kernels.js';
import { explained } from '../../src/tensor/diverged.js';
import { createBilinear, type BilinearState } from './bilinear-state.js';
import { createBilinearStep } from './bilinear-step.js';
import { queryGroups } from './query-groups.js';
import type { BilinearSettings } from './settings.js';

/** Figures of one epoch. */
export interface BilinearReport {
  /** Epochs done. */
  epoch: number;
  /** Mean over batches of a true triple's loss, each before its update. */
  loss: number;
  learningRate: number;
  /** On valid, where this epoch validated. */
  metrics?: LinkMetrics;
}

/** What is trained on which triples, from where on, and who is told. */
export interface BilinearOptions {
  numEntities: number;
  /** Inverses included; triples have plain relations, the first half. */
  numRelations: number;
  train: TripleColumns;
  /** Chooses the epoch; without triples all epochs run and the last weights are taken. */
  valid: TripleColumns;
  settings: BilinearSettings;
  seed: number;
  /** A state of the same data, settings and seed; training goes on in copies of its arrays. */
  resumeFrom?: BilinearState | undefined;
  onEpoch?: (report: BilinearReport, state: BilinearState) => void;
  /** Queries done of those of all epochs; called after each batch. */
  onProgress?: (done: number, total: number) => void;
  /** Looked at after each epoch; training then ends with what it has and `stopped` is true. */
  signal?: AbortSignal | undefined;
}

/** The table to use, and the state to go on from. */
export interface BilinearResult {
  /** The best validated weights, else the last. */
  table: BilinearTable;
  /** Of that table; absent without validation triples. */
  metrics?: LinkMetrics;
  state: BilinearState;
  stopped: boolean;
}

/** Queries of an epoch, counting both directions of every triple once. */
export function countQueries({ train, numRelations }: Pick<BilinearOptions, 'train' | 'numRelations'>): number {
  return queryGroups(train, numRelations / 2).givens.length;
}

/**
 * Trains on one thread. Same input and seed give the same bytes, also when continued from any epoch's state.
 * @throws Diverged for a batch with a loss that is not finite, before it moves a weight; WorkbenchError `native` where there is no WebAssembly SIMD
 */
export async function trainBilinear(options: BilinearOptions): Promise<BilinearResult> {
  const { train, valid, settings, seed, numRelations, onEpoch, onProgress, signal } = options;
  const arena = new Arena();
  const state = arena.hold(options.resumeFrom ?? createBilinear(settings, options));
  const kernels = openKernels(arena.memory);
  const groups = queryGroups(train, numRelations / 2);
  const step = createBilinearStep({ arena, kernels, state, groups, settings });
  const known = knownAnswers([train, valid], valid);
  const count = groups.givens.length;
  const order = new Int32Array(count);
  const finished = () => state.epoch >= settings.epochs || state.checksWithoutGain >= settings.patience;
  while (!finished() && !signal?.aborted) {
    const { epoch } = state;
    const learningRate = settings.learningRate * (settings.schedule === 'linear' ? 1 - epoch / settings.epochs : 1);
    order.forEach((_, i) => (order[i] = i));
    Rng.named(seed, 'bilinear/shuffle', epoch).shuffle(order);
    const rng = Rng.named(seed, 'bilinear/negatives', epoch);
    let loss = 0;
    for (let begin = 0; begin < count; begin += settings.batchSize) {
      const batch = order.subarray(begin, begin + settings.batchSize);
      const place = { epoch: epoch + 1, query: begin + 1 };
      loss +=
        batch.length *
        explained(
          () => ({ place }),
          () => step.train(batch, learningRate, rng),
        );
      onProgress?.(epoch * count + begin + batch.length, settings.epochs * count);
      // Lets signals and other work of the process through.
      await setImmediate();
    }
    state.epoch++;
    const report: BilinearReport = { epoch: state.epoch, loss: loss / Math.max(1, count), learningRate };
    if (valid.heads.length > 0 && (state.epoch % settings.evalEvery === 0 || state.epoch === settings.epochs)) {
      report.metrics = linkMetrics(bilinearRanks(state.table, valid, known));
      keepBest(state, report.metrics);
    }
    onEpoch?.(report, state);
  }
  const { best, table } = state;
  return {
    table: best ? { ...table, entities: best.entities, relations: best.relations } : table,
    ...(best && { metrics: best.metrics }),
    state,
    stopped: !finished(),
  };
}

function keepBest(state: BilinearState, metrics: LinkMetrics): void {
  if (state.best && metrics.mrr <= state.best.metrics.mrr) {
    state.checksWithoutGain++;
    return;
  }
  const { epoch, table } = state;
  state.best = { epoch, metrics, entities: table.entities.slice(), relations: table.relations.slice() };
  state.checksWithoutGain = 0;
}
