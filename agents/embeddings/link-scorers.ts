/** Embeddings of a link data set, trained or kept from earlier runs, as scorers of its queries. */
import { bilinearScorer, type LinkScorer, transeScorer } from '../../src/embedding/scorers.js';
import type { LinkMetrics } from '../../src/embedding/rank-links.js';
import type { Graph, TripleColumns } from '../../src/kg/graph.js';
import { pretrainBilinear } from './bilinear/train-bilinear.js';
import type { TrainSettings } from '../train-settings.js';
import type { VectorTable } from './epochs.js';
import { type Kept, type KeptTableOptions, usualFolder } from './kept-table.js';
import { pretrainEmbeddings } from './transe/pretrain.js';

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
interface OpenScorerOptions extends Partial<KeptTableOptions> {
  /** Default 1. */
  threads?: number | undefined;
}

/** Scorer with its source. */
export type OpenedScorer = Kept<{
  scorer: LinkScorer;
  /** Metrics that selected the epoch: both directions of valid, with train and valid as known answers; absent if valid has no triples. */
  metrics?: LinkMetrics | undefined;
  /** Its vectors as features: rows with a mean L2 norm of 1, separately for entities and relations. */
  table: Pick<VectorTable, 'dim' | 'entities' | 'relations'>;
}>;

/**
 * Trains the scorer of a settings section on train, or reads the table kept for these settings, data and seed. The
 * caller checks that the section is enabled.
 * @throws WorkbenchError `stopped` once the signal is aborted, after saving
 */
export async function openLinkScorer(
  name: LinkScorerSection,
  { graph, train, valid }: ScoredData,
  settings: Pick<TrainSettings, 'transe' | 'bilinear' | 'seed'>,
  { threads, folder = usualFolder(), progress, signal, trial }: OpenScorerOptions = {},
): Promise<OpenedScorer> {
  const { seed } = settings;
  const split = { train, valid };
  const work = { folder, progress, signal, trial };
  if (name === 'transe') {
    const trained = await pretrainEmbeddings(graph, { settings: settings.transe, seed, split, threads, ...work });
    return opened(transeScorer(trained.table), trained);
  }
  const trained = await pretrainBilinear({ graph, settings: settings.bilinear, seed }, split, work);
  return opened(bilinearScorer(trained.table), trained);
}

function opened(scorer: LinkScorer, { file, reused, metrics, table }: Omit<OpenedScorer, 'scorer'>): OpenedScorer {
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
