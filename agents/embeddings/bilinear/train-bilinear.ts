/** Bilinear tables: training by epochs over a seeded shuffle of queries, and the kept table of a data set. */
import { setImmediate } from 'node:timers/promises';
import { createBilinearStep, freshBilinear, queryGroups } from './step.js';
import { knownAnswers } from '../../../src/embedding/known-answers.js';
import { bilinearRanks, type BilinearTable } from '../../../src/embedding/bilinear.js';
import type { TripleColumns, Graph } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { Arena } from '../../../src/nn/simd/arena.js';
import { openKernels } from '../../../src/nn/simd/kernels.js';
import { divergedAt } from '../../../src/nn/diverged.js';
import { trainEpochs, type TableResult, type TableState, type TableTraining } from '../epochs.js';
import type { BilinearSettings } from './settings.js';
import { checkFits, readCheckpoint, writeCheckpoint } from '../../../checkpoints/checkpoint.js';
import type { LinkMetrics } from '../../../src/embedding/rank-links.js';
import { configHash } from '../../../src/run/config-values.js';
import { madeFrom } from '../../../src/run/provenance.js';
import {
  hashOfTriples,
  importedTable,
  keptTable,
  metricsOf,
  readVectors,
  tableHeader,
  tableTensors,
  trainingCheckpoint,
  trainingOf,
  unfit,
  type Kept,
  type KeptTableOptions,
  type TableIdentity,
} from '../kept-table.js';

/** Training state; squared gradients are per number. */
export type BilinearState = TableState<BilinearTable, Float32Array>;

/** Initial weights, before the first epoch. @param of `numRelations` with inverses */
export const createBilinear = (
  settings: Pick<BilinearSettings, 'model' | 'dim'>,
  of: { numEntities: number; numRelations: number; seed: number },
): BilinearState => ({ ...freshBilinear(settings, of), epoch: 0, best: undefined, checksWithoutGain: 0 });

/** `numRelations` includes inverses; triples have plain relations, the first half. */
interface BilinearOptions extends TableTraining<BilinearState> {
  valid: TripleColumns;
  settings: BilinearSettings;
}

/**
 * Trains on one thread. Same input and seed give the same bytes, also when resumed from any epoch's state.
 * @throws Diverged for a batch with a loss that is not finite, before any weight moves; WorkbenchError `native` without WebAssembly SIMD
 */
export async function trainBilinear(options: BilinearOptions): Promise<TableResult<BilinearState>> {
  const { train: triples, valid, settings, seed, numRelations, onEpoch, onProgress, signal } = options;
  const arena = new Arena();
  const state = arena.hold(options.resumeFrom ?? createBilinear(settings, options));
  const kernels = openKernels(arena.memory);
  const groups = queryGroups(triples, numRelations / 2);
  const step = createBilinearStep({ arena, kernels, state, groups, settings });
  const known = knownAnswers([triples, valid], valid);
  const count = groups.givens.length;
  const order = new Int32Array(count);
  async function train(learningRate: number): Promise<number> {
    const { epoch } = state;
    order.forEach((_, i) => (order[i] = i));
    Rng.named(seed, 'bilinear/shuffle', epoch).shuffle(order);
    const rng = Rng.named(seed, 'bilinear/negatives', epoch);
    let loss = 0;
    for (let begin = 0; begin < count; begin += settings.batchSize) {
      const batch = order.subarray(begin, begin + settings.batchSize);
      try {
        loss += batch.length * step.train(batch, learningRate, rng);
      } catch (error) {
        throw divergedAt(error, `bilinear epoch ${epoch + 1}`, 'Lower bilinear.learningRate.');
      }
      onProgress?.(epoch * count + begin + batch.length, settings.epochs * count);
      // Yields to signals and other work of the process.
      await setImmediate();
    }
    return loss / Math.max(1, count);
  }
  const rank = valid.heads.length > 0 ? () => bilinearRanks(state.table, valid, known) : undefined;
  return trainEpochs(state, settings, { train, rank, onEpoch, signal });
}

/** Kept table, and its metrics on valid if valid has triples. */
type SavedBilinear = { table: BilinearTable; metrics: LinkMetrics | undefined };

/**
 * The table depends only on the graph's names, train, valid, the settings and the seed.
 * @throws WorkbenchError `stopped` once the signal is aborted, after saving; `native` without WebAssembly SIMD
 */
export async function pretrainBilinear(
  identity: TableIdentity<BilinearSettings>,
  { train, valid }: { train: TripleColumns; valid: TripleColumns },
  options: KeptTableOptions,
): Promise<Kept<SavedBilinear>> {
  const { graph, settings, seed } = identity;
  if (settings.imported !== undefined) {
    return importedTable(settings.imported, graph, options.folder, (file) => readBilinear(file, graph));
  }
  const { numEntities, numRelations } = graph;
  const sizes = { numEntities, numRelations, seed };
  const facts = { train: train.heads.length, valid: valid.heads.length };
  // Recorded for a reused table too: its name identifies these inputs.
  madeFrom('embedding', settings.model, { graph: graph.hash, ...facts });
  const parts = { train: hashOfTriples(train), valid: hashOfTriples(valid) };
  const key = configHash({ graph: graph.hash, bilinear: settings, seed, ...parts }).slice(0, 16);
  return keptTable(
    key,
    {
      settings,
      // Both directions of every triple, equal ones once.
      shown: { name: settings.model, perEpoch: queryGroups(train, numRelations / 2).givens.length, unit: 'queries' },
      read: (file) => readBilinear(file, graph),
      resume(file) {
        const fresh = createBilinear(settings, sizes);
        return trainingOf(readCheckpoint(file, { finite: true }), 'bilinear', identity, fresh, file);
      },
      train: (begun, callbacks) => trainBilinear({ ...sizes, train, valid, settings, ...callbacks, resumeFrom: begun }),
      checkpoint: (state) => trainingCheckpoint('bilinear', identity, state),
      write(file, { table, metrics, state }) {
        const header = tableHeader('bilinear', identity, state.epoch, {}, metrics);
        writeCheckpoint(file, { header, tensors: tableTensors(table) });
      },
    },
    options,
  );
}

/** @throws WorkbenchError `data` for a file that is missing, damaged or of another graph */
function readBilinear(file: string, graph: Graph): SavedBilinear {
  const { header, tensors } = readCheckpoint(file, { finite: true });
  checkFits(header, { graph: graph.hash }, file);
  const { bilinear } = header.config as { bilinear?: BilinearSettings };
  if (bilinear === undefined) throw unfit('a table of DistMult or ComplEx', 'another', file);
  const { model, dim } = bilinear;
  return { table: { model, ...readVectors(tensors, graph, dim, file) }, metrics: metricsOf(header) };
}
