/** TransE table of a graph: reuses the matching one, else trains and keeps one. */
import { join } from 'node:path';
import { checkFits, readCheckpoint, writeCheckpoint } from '../../../checkpoints/checkpoint.js';
import { meanEntityNorm, normalisedTable, type EmbeddingTable } from '../../../src/embedding/transe.js';
import type { LinkMetrics } from '../../../src/embedding/rank-links.js';
import type { Graph, Triple } from '../../../src/kg/graph.js';
import { configHash } from '../../../src/run/config-values.js';
import { writeFileAtomic } from '../../../src/run/files.js';
import { madeFrom } from '../../../src/run/provenance.js';
import type { EpochReport } from '../epochs.js';
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
  usualFolder,
  type Kept,
  type KeptTableOptions,
  type TableIdentity,
} from '../kept-table.js';
import type { TransESettings } from './settings.js';
import { trainTransE } from './train-transe.js';
import { forwardRelations, holdOutTriples, type HeldOut } from './triples.js';
import { createTransE } from './work.js';

interface PretrainOptions extends Partial<KeptTableOptions> {
  settings: TransESettings;
  seed: number;
  /** Triples that must not be held out, in either direction: those of train's paths. */
  exclude?: Iterable<Triple>;
  /** Facts to train on and to validate with, in forward direction, if the data have both; else some of the graph's are held out. */
  split?: HeldOut;
  /** Default 1. No byte depends on it. */
  threads?: number | undefined;
}

/** Logged figures of one epoch, under the keys of the metric log. */
interface EpochRecord {
  /** Epochs done. */
  step: number;
  metrics: Record<string, number>;
}

interface SavedTable {
  /** Entity vectors have a mean L2 norm of 1. */
  table: EmbeddingTable;
  /** Metrics of the table on the held-out triples; absent if nothing was held out. */
  metrics?: LinkMetrics | undefined;
  /** One record per epoch, so that a run that reuses the table logs the same. */
  history: EpochRecord[];
}

type TransEIdentity = TableIdentity<TransESettings>;

/** See `pretrainEmbeddings`. */
export type Pretrained = Kept<SavedTable>;

/**
 * TransE table of all relations of the graph, `~relation` included: facts are trained in one direction, and the vector
 * of an inverse is the negative of its relation's, under which t − r ≈ h scores exactly as h + r ≈ t. Free vectors for
 * both directions gain nothing: on OpenDialKG's dialogue graph, at equal numbers of updates, filtered MRR 0.329 with
 * them and 0.332 without (one seed, margin 9, n = 1,732: level), at half the epochs per second.
 * The table depends only on the graph, the settings, the seed and the training and validation facts.
 * @throws WorkbenchError `stopped` once the signal is aborted, after saving
 */
export async function pretrainEmbeddings(graph: Graph, options: PretrainOptions): Promise<Pretrained> {
  const { settings, seed, split, threads, exclude = [], folder = usualFolder() } = options;
  if (settings.imported !== undefined) {
    return importedTable(settings.imported, graph, folder, (file) => readTable(file, graph));
  }
  const identity: TransEIdentity = { graph, settings, seed };
  const { train, valid } = split ?? holdOutTriples(graph, { share: settings.validShare, exclude, seed });
  const of = { numEntities: graph.numEntities, numRelations: graph.numRelations, settings, seed };
  const count = train.heads.length;
  // Recorded for a reused table too: its name identifies these inputs.
  madeFrom('embedding', 'TransE', { graph: graph.hash, train: count, 'held out': valid.heads.length });
  // The graph determines its held-out facts, but not the order of a data set's splits.
  const parts = { valid: hashOfTriples(valid), ...(split && { train: hashOfTriples(train) }) };
  const key = configHash({ graph: graph.hash, settings, seed, ...parts }).slice(0, 16);
  let history: EpochRecord[] = [];
  return keptTable(
    key,
    {
      settings,
      shown: { name: 'transe', perEpoch: count, unit: 'triples' },
      read: (file) => readTable(file, graph),
      resume(file) {
        const begun = readCheckpoint(file, { finite: true });
        const state = trainingOf(begun, 'transe', identity, createTransE(of), file);
        ({ history } = begun.header.trainer as unknown as { history: EpochRecord[] });
        return state;
      },
      train: (begun, { onEpoch, ...callbacks }) =>
        trainTransE({
          ...of,
          ...callbacks,
          train,
          valid,
          threads,
          resumeFrom: begun,
          onEpoch(report, state) {
            history.push(recordOf(report));
            onEpoch(report, state);
          },
        }),
      checkpoint: (state) => trainingCheckpoint('transe', identity, state, { history }),
      write(file, { table: trained, metrics }) {
        const { table } = normalisedTable(withInverses(trained, graph));
        writeTable(file, identity, { table, metrics, history });
      },
    },
    { ...options, folder },
  );
}

/** Replaces the vector of each inverse relation by the negative of its forward one. */
export function withInverses(table: EmbeddingTable, graph: Graph): EmbeddingTable {
  const { dim } = table;
  const relations = table.relations.slice();
  forwardRelations(graph).forEach((forward, relation) => {
    if (forward === relation) return;
    for (let k = 0; k < dim; k++) relations[relation * dim + k] = -relations[forward * dim + k]!;
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

/** Writes a normalised table. Equal content gives equal bytes. */
export function writeTable(file: string, identity: TransEIdentity, { table, metrics, history }: SavedTable): void {
  // An imported table has a different norm and width.
  const settings = { ...identity.settings, norm: table.norm, dim: table.dim };
  const header = tableHeader('transe', { ...identity, settings }, history.length, { history }, metrics);
  writeCheckpoint(file, { header, tensors: tableTensors(table) });
}

/**
 * Reads a table of `graph`. Its training settings are in the file.
 * @throws WorkbenchError `data` for a file that is missing, damaged, of another graph, or not normalised
 */
export function readTable(file: string, graph: Graph): SavedTable {
  const { header, tensors } = readCheckpoint(file, { finite: true });
  checkFits(header, { graph: graph.hash }, file);
  const { norm, dim } = (header.config as { transe: TransESettings }).transe;
  const table: EmbeddingTable = { model: 'transe', norm, ...readVectors(tensors, graph, dim, file) };
  const scale = meanEntityNorm(table);
  if (Math.abs(scale - 1) > 1e-3) throw unfit('entity vectors of mean norm 1', scale.toFixed(4), file);
  const { history } = header.trainer as unknown as { history: EpochRecord[] };
  return { table, metrics: metricsOf(header), history };
}

/** The table of a run, in its `embeddings` folder. */
export const runTableFile = 'transe.safetensors';

/**
 * Writes the table and its metrics into a run, from memory: its source file may be deleted by now.
 * @param identity of the table
 * @param embeddings the run's `embeddings` folder
 */
export function keepInRun(table: SavedTable, identity: TransEIdentity, embeddings: string): void {
  const { metrics, history } = table;
  writeTable(join(embeddings, runTableFile), identity, table);
  writeFileAtomic(join(embeddings, 'transe.json'), `${JSON.stringify({ metrics, history }, null, 2)}\n`);
}
