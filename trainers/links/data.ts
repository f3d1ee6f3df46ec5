/** What training on link queries reads before it begins. */
import { type LinkDataset, linkNotes, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { queriesOf } from '../../evaluation/links/link-queries.js';
import { sampledTriples, joinTriples, type TripleColumns } from '../../src/kg/graph.js';
import type { TrainSettings } from '../train-settings.js';

/** All of it. */
export interface LinkTrainingData {
  dataset: LinkDataset;
  /** Train's triples as queries of the directions that are trained. */
  queries: TripleColumns;
  /** Triples of valid that the best checkpoint is evaluated on: all, or the settings' draw. */
  valid: TripleColumns;
  /** Those of them that curves are made of: a seeded sample, or all. */
  watched: TripleColumns;
  /** One line a thing that whoever starts the run should know. */
  notes: string[];
}

/** @throws WorkbenchError `data` for a data set that is not there or holds something else */
export async function openLinkTrainingData({
  data,
  linkWalk,
  ppo,
}: Pick<TrainSettings, 'data' | 'linkWalk' | 'ppo'>): Promise<LinkTrainingData> {
  const dataset = await loadLinkDataset(data.dataset);
  const { graph } = dataset;
  const train = sampledTriples(dataset.train, data.trainSamples ?? Infinity, 'data/train-samples');
  const valid = sampledTriples(dataset.valid, data.validSamples ?? Infinity, 'data/valid-samples');
  const tails = queriesOf(graph, train, 'tail');
  const queries = linkWalk.bothDirections ? joinTriples([tails, queriesOf(graph, train, 'head')]) : tails;
  const asked = linkWalk.bothDirections ? 'tails and heads' : 'tails';
  return {
    dataset,
    queries,
    valid,
    watched: sampledTriples(valid, ppo.evalSamples ?? Infinity, 'train/eval-samples'),
    notes: [
      `${queries.heads.length} train queries (${asked} of ${train.heads.length} triples) and ${valid.heads.length} valid triples on graph ${graph.name}: ${graph.numEntities} entities, ${graph.numEdges} edges with inverses`,
      ...linkNotes(dataset.manifest),
    ],
  };
}
