/** Pretraining for a graph: reuse the table that fits, else train one and keep it. */
import { join } from 'node:path';
import { type EmbeddingTable, normalisedTable } from '../../src/embedding/transe.js';
import type { Graph } from '../../src/kg/graph.js';
import type { Triple } from '../../src/kg/path.js';
import { readCheckpoint, type Checkpoint } from '../../checkpoints/checkpoint.js';
import { configHash } from '../../src/run/config.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { kgwalkHome } from '../../src/run/locations.js';
import { madeFrom } from '../../src/run/provenance.js';
import { type ProgressReporter, silentProgress } from '../../src/run/progress.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { Diverged } from '../../src/tensor/diverged.js';
import { keptTable } from '../embeddings/kept-table.js';
import { hashOfTriples } from '../embeddings/table-tensors.js';
import {
  type EpochRecord,
  readTable,
  type SavedTable,
  type TableIdentity,
  trainingCheckpoint,
  trainingOf,
  writeTable,
} from './embedding-file.js';
import { forwardRelations, holdOutTriples, type HeldOut } from './hold-out.js';
import type { TransESettings } from './settings.js';
import { type EpochReport, trainTransE, type TransEOptions } from './train-transe.js';
import { repeatBatch } from './repeat-batch.js';
import type { TransEState } from './transe-state.js';
import { createWork } from './transe-work.js';

/** How a table is made, and where it is kept. */
export interface PretrainOptions {
  settings: TransESettings;
  seed: number;
  /** Triples that must not be held out, in either direction: those of train's paths. */
  exclude?: Iterable<Triple>;
  /** Facts to train on and to validate with, told forwards, where the data have both; else some of the graph's are held out. */
  split?: HeldOut;
  /** Where tables are kept; default `embeddings` in `KGWALK_HOME`. */
  folder?: string;
  /** Default 1. No byte depends on it. */
  threads?: number | undefined;
  progress?: ProgressReporter;
  /** Told the state before a step that diverged; what it returns is thrown instead. */
  onDiverged?: (error: unknown, before: () => Checkpoint) => unknown;
  /** Aborted: the epoch is finished and the state saved; the next call with equal options goes on from there. */
  signal?: AbortSignal;
}

/** A table, and whether it had to be made. */
export interface Pretrained extends SavedTable {
  /** Absolute path of the table; a run copies it into its own folder. */
  file: string;
  /** Whether the table was there already. */
  reused: boolean;
}

/**
 * A TransE table of all relations of the graph, `~relation` included: facts are trained in one direction, and the vector
 * of an inverse is the negative of its relation's, under which t − r ≈ h scores exactly as h + r ≈ t. Free vectors for
 * both directions gain nothing: on OpenDialKG's dialogue graph, at equal numbers of updates, filtered MRR 0.329 with
 * them and 0.332 without (one seed, margin 9, n = 1,732: level), at half the epochs a second.
 * The table depends on the graph, the settings, the seed and what it is trained on and validated with, and on nothing else.
 * @throws WorkbenchError `stopped` once the signal is aborted, after saving
 */
export async function pretrainEmbeddings(graph: Graph, options: PretrainOptions): Promise<Pretrained> {
  const { settings, seed, split, signal, exclude = [], folder = join(kgwalkHome(), 'embeddings') } = options;
  const identity: TableIdentity = { graph, settings, seed };
  const data = trainingData(identity, split ?? heldOut(identity, exclude));
  const { train, valid } = data;
  const facts = { train: train.heads.length, 'held out': valid.heads.length };
  // Said of a table that is reused too: its name says that it was made from these.
  madeFrom('embedding', 'TransE', { graph: graph.hash, ...facts });
  // A graph tells which facts are held out of it; it does not tell the order of a data set's own.
  const parts = { valid: hashOfTriples(valid), ...(split && { train: hashOfTriples(train) }) };
  const key = configHash({ graph: graph.hash, settings, seed, ...parts }).slice(0, 16);
  return keptTable(folder, key, {
    read: (file) => readTable(file, graph),
    resume: (file) => trainingOf(readCheckpoint(file, { finite: true }), identity, file),
    async train(file, begun, save) {
      const history: EpochRecord[] = begun?.history ?? [];
      const checkpointOf = (state: TransEState) => trainingCheckpoint(identity, state, history);
      const count = train.heads.length;
      const before = (begun?.state.epoch ?? 0) * count;
      const progress = (options.progress ?? silentProgress)('transe', settings.epochs * count, 'triples', before);
      let note = '';
      const result = await trainTransE({
        ...data,
        ...(begun && { resumeFrom: begun.state }),
        ...(signal && { signal }),
        threads: options.threads,
        onProgress: (done) => progress.update(done, note),
        onEpoch(report, state) {
          history.push(recordOf(report));
          note = `loss ${report.loss.toFixed(3)}${report.metrics ? ` · MRR ${report.metrics.mrr.toFixed(3)}` : ''}`;
          // A kill costs no more than the epochs between two validations, each of which takes longer than this does.
          const saves = report.epoch % settings.evalEvery === 0 && report.epoch < settings.epochs;
          if (saves) save(checkpointOf(state));
        },
        onDiverged: (error, state) => options.onDiverged?.(named(error, graph), () => checkpointOf(state)) ?? error,
      });
      progress.finish(note);
      if (result.stopped) {
        save(checkpointOf(result.state));
        throwIfStopped(signal);
      }
      const { table } = normalisedTable(withInverses(result.table, graph));
      writeTable(file, identity, { table, ...(result.metrics && { metrics: result.metrics }), history });
    },
  });
}

/** What a table is trained on. */
function trainingData(
  { graph, settings, seed }: TableIdentity,
  { train, valid }: HeldOut,
): TransEOptions & Required<Pick<TransEOptions, 'valid'>> {
  const { numEntities, numRelations } = graph;
  return { numEntities, numRelations, train, valid, settings, seed };
}

function heldOut({ graph, settings, seed }: TableIdentity, exclude: Iterable<Triple>): HeldOut {
  return holdOutTriples(graph, { share: settings.validShare, exclude, seed });
}

/**
 * The batch of a training that diverged, once more.
 * @param before what `onDiverged` was told
 * @param triple of the epoch, from 1: the one that diverged
 * @param file what to call the state in errors
 * @returns its mean loss, where it is finite here
 * @throws Diverged as the training did; WorkbenchError `data` for a state of other settings or another graph
 */
export function replayTransE(
  graph: Graph,
  { settings, seed, exclude = [] }: Pick<PretrainOptions, 'settings' | 'seed' | 'exclude'>,
  { before, triple, file }: { before: Checkpoint; triple: number; file: string },
): number {
  const identity: TableIdentity = { graph, settings, seed };
  const { state } = trainingOf(before, identity, file);
  const { batchSize } = settings;
  try {
    const begin = Math.floor((triple - 1) / batchSize) * batchSize;
    return repeatBatch(createWork({ ...trainingData(identity, heldOut(identity, exclude)), state }, 1), begin);
  } catch (error) {
    throw error instanceof Diverged ? named(error, graph) : error;
  }
}

/** Puts names to the ids of triples. */
function named(error: Diverged, graph: Graph): Diverged {
  for (const sample of error.step.samples ?? []) {
    const [head, relation, tail] = sample.id.split(' ').map(Number) as [number, number, number];
    sample.id = [graph.entityNames[head], graph.relationNames[relation], graph.entityNames[tail]].join(' | ');
  }
  return error;
}

/** The table with the vector of each relation that is told backwards replaced by the negative of its forward one. */
function withInverses(table: EmbeddingTable, graph: Graph): EmbeddingTable {
  const { dim } = table;
  const relations = table.relations.slice();
  forwardRelations(graph).forEach((told, relation) => {
    if (told === relation) return;
    for (let k = 0; k < dim; k++) relations[relation * dim + k] = -relations[told * dim + k]!;
  });
  return { ...table, relations };
}

function recordOf({ epoch, loss, learningRate, metrics }: EpochReport): EpochRecord {
  const evaluated = Object.entries(metrics ?? {}).map(([key, value]) => [`eval/${key}`, value]);
  return {
    step: epoch,
    metrics: { 'train/loss': loss, 'train/learning_rate': learningRate, ...Object.fromEntries(evaluated) },
  };
}

/** The table of a run, in its `embeddings` folder. */
export const runTableFile = 'transe.safetensors';

/**
 * Puts the table and its metrics into a run, out of memory: the file that it was read from may be deleted by now.
 * @param identity what the table was made for
 * @param embeddings the run's `embeddings` folder
 */
export function keepInRun(table: SavedTable, identity: TableIdentity, embeddings: string): void {
  const { metrics, history } = table;
  writeTable(join(embeddings, runTableFile), identity, table);
  writeFileAtomic(join(embeddings, 'transe.json'), `${JSON.stringify({ metrics, history }, null, 2)}\n`);
}
