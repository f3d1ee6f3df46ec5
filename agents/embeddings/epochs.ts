/** Training epochs of a table of vectors, for any model: learning rate, validation, early stopping, best weights. */
import { setImmediate } from 'node:timers/promises';
import { linkMetrics, type LinkMetrics } from '../../src/embedding/rank-links.js';
import type { TripleColumns } from '../../src/kg/graph.js';

/** Rows of `dim` values, row-major. */
export interface VectorTable {
  dim: number;
  numEntities: number;
  numRelations: number;
  entities: Float32Array;
  relations: Float32Array;
}

/**
 * Training state after `epoch` whole epochs. It has no generator: the draws of an epoch come from the seed and the
 * epoch's number, so these arrays and numbers are the complete state.
 */
export interface TableState<
  Table extends VectorTable = VectorTable,
  Squares extends Float32Array | Float64Array = Float32Array | Float64Array,
> {
  epoch: number;
  table: Table;
  /** Adagrad's sums of squared gradients: for TransE float64, one per row; for bilinear models float32, one per number. */
  entitySquares: Squares;
  relationSquares: Squares;
  /** The best validated weights so far. */
  best: { epoch: number; metrics: LinkMetrics; entities: Float32Array; relations: Float32Array } | undefined;
  /** Validations since the best one. */
  checksWithoutGain: number;
}

/** Figures of one epoch. */
export interface EpochReport {
  /** Epochs done. */
  epoch: number;
  /** Mean loss of a true triple before its update: for TransE over a fixed share of them, else over all. */
  loss: number;
  learningRate: number;
  /** On the held-out triples, if this epoch validated. */
  metrics?: LinkMetrics;
}

/** Final table, and state to resume from. */
export interface TableResult<State extends TableState> {
  /** Best validated weights, else the last. */
  table: State['table'];
  /** Metrics of that table; absent without validation triples. */
  metrics?: LinkMetrics | undefined;
  state: State;
  stopped: boolean;
}

export interface EpochSettings {
  epochs: number;
  evalEvery: number;
  patience: number;
  learningRate: number;
  schedule: 'linear' | 'constant';
}

/** Data, resume state and callbacks of a training. */
export interface TableTraining<State extends TableState> {
  numEntities: number;
  numRelations: number;
  train: TripleColumns;
  /** Held-out triples that select the epoch; without any all epochs run and the last weights are used. */
  valid?: TripleColumns;
  seed: number;
  /** State of the same data, settings and seed to resume from; its arrays are copied. */
  resumeFrom?: State | undefined;
  onEpoch?: (report: EpochReport, state: State) => void;
  /** Called at times with the number of items done, over all epochs. */
  onProgress?: (done: number, total: number) => void;
  /** Checked after each epoch; once aborted, training ends with the state so far and `stopped` is true. */
  signal?: AbortSignal | undefined;
}

interface EpochSteps<State extends TableState> extends Pick<TableTraining<State>, 'onEpoch' | 'signal'> {
  /** @returns mean loss */
  train(learningRate: number): Promise<number>;
  /** Ranks of the held-out triples; absent if there are none. */
  rank: (() => Float64Array | Promise<Float64Array>) | undefined;
}

/** Trains until the epochs are over, or until `patience` validations bring no improvement; changes the state in place. */
export async function trainEpochs<State extends TableState>(
  state: State,
  settings: EpochSettings,
  { train, rank, onEpoch, signal }: EpochSteps<State>,
): Promise<TableResult<State>> {
  const finished = () => state.epoch >= settings.epochs || state.checksWithoutGain >= settings.patience;
  while (!finished() && !signal?.aborted) {
    const left = settings.schedule === 'linear' ? 1 - state.epoch / settings.epochs : 1;
    const learningRate = settings.learningRate * left;
    const loss = await train(learningRate);
    state.epoch++;
    const report: EpochReport = { epoch: state.epoch, loss, learningRate };
    if (rank && (state.epoch % settings.evalEvery === 0 || state.epoch === settings.epochs)) {
      report.metrics = linkMetrics(await rank());
      keepBest(state, report.metrics);
    }
    onEpoch?.(report, state);
    // Yields to signals and other work of the process.
    await setImmediate();
  }
  const { best, table } = state;
  return {
    table: best ? { ...table, entities: best.entities, relations: best.relations } : table,
    metrics: best?.metrics,
    state,
    stopped: !finished(),
  };
}

function keepBest(state: TableState, metrics: LinkMetrics): void {
  if (state.best && metrics.mrr <= state.best.metrics.mrr) {
    state.checksWithoutGain++;
    return;
  }
  const { epoch, table } = state;
  state.best = { epoch, metrics, entities: table.entities.slice(), relations: table.relations.slice() };
  state.checksWithoutGain = 0;
}
