/** Embeddings of a link data set, trained or kept from earlier runs, as scorers of its queries. */
import { join } from 'node:path';
import { bilinearScorer, type LinkScorer, transeScorer } from '../../src/embedding/scorers.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { kgwalkHome } from '../../src/run/locations.js';
import type { ProgressReporter } from '../../src/run/progress.js';
import { pretrainBilinear } from '../bilinear/train-bilinear.js';
import type { TrainSettings } from '../train-settings.js';
import type { KeptTableOptions } from './kept-table.js';
import { pretrainEmbeddings } from '../transe/pretrain.js';

/** The sections of the settings that train a scorer. */
export type LinkScorerSection = 'transe' | 'bilinear';

/** Training data of a scorer; part of a link data set. */
export interface ScoredData {
  /** Edges of train and their inverses; entities of all splits. */
  graph: Graph;
  train: TripleColumns;
  /** Selects the epoch. Test is never read, not even as known answers. */
  valid: TripleColumns;
}

/** Options of execution; no byte depends on them. */
interface OpenScorerOptions {
  /** Default 1. */
  threads?: number | undefined;
  /** Folder of tables; default `embeddings` in `KGWALK_HOME`. */
  folder?: string | undefined;
  progress?: ProgressReporter | undefined;
  /** Once aborted, the epoch is finished and the state saved; the next call with equal settings resumes. */
  signal?: AbortSignal | undefined;
  trial?: KeptTableOptions['trial'];
}

/** Scorer with its source. */
export interface OpenedScorer {
  scorer: LinkScorer;
  /** Absolute path of the kept table; a run copies it into its folder. */
  file: string;
  reused: boolean;
  /**
   * Metrics that selected the epoch: both directions of valid, with train and valid as known answers; absent if valid
   * has no triples.
   */
  metrics: LinkMetrics | undefined;
  /** Its vectors as features. */
  table: LinkFeatures;
}

/** Rows with a mean L2 norm of 1, separately for entities and relations; row-major. */
interface LinkFeatures {
  dim: number;
  /** float32 [numEntities, dim] */
  entities: Float32Array;
  /** float32 [numRelations, dim], inverses included. */
  relations: Float32Array;
}

/**
 * Trains the scorer of a settings section on train, or reads the table kept for these settings, data and seed. The
 * caller checks that the section is enabled.
 * @throws WorkbenchError `stopped` once the signal is aborted, after saving
 */
export async function openLinkScorer(
  name: LinkScorerSection,
  { graph, train, valid }: ScoredData,
  settings: Pick<TrainSettings, 'transe' | 'bilinear' | 'seed'>,
  { threads, folder = join(kgwalkHome(), 'embeddings'), progress, signal, trial }: OpenScorerOptions = {},
): Promise<OpenedScorer> {
  const { seed } = settings;
  const work = { folder, progress, signal, trial };
  if (name === 'transe') {
    const split = { train, valid };
    const trained = await pretrainEmbeddings(graph, { settings: settings.transe, seed, split, threads, ...work });
    return opened(transeScorer(trained.table), trained);
  }
  const trained = await pretrainBilinear({ graph, settings: settings.bilinear, seed }, { train, valid }, work);
  return opened(bilinearScorer(trained.table), trained);
}

function opened(
  scorer: LinkScorer,
  trained: { table: LinkFeatures; file: string; reused: boolean; metrics?: LinkMetrics | undefined },
): OpenedScorer {
  const { file, reused, metrics, table } = trained;
  const { dim, entities, relations } = table;
  const features = { dim, entities: unitOnAverage(entities, dim), relations: unitOnAverage(relations, dim) };
  return { scorer, file, reused, metrics, table: features };
}

/** Rows scaled by one factor to a mean L2 norm of 1. */
function unitOnAverage(rows: Float32Array, dim: number): Float32Array {
  let norms = 0;
  for (let begin = 0; begin < rows.length; begin += dim) {
    let square = 0;
    for (let k = begin; k < begin + dim; k++) square += rows[k]! * rows[k]!;
    norms += Math.sqrt(square);
  }
  const scale = rows.length / dim / Math.max(norms, 1e-12);
  return rows.map((value) => value * scale);
}
