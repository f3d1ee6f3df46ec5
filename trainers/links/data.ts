/** What training on link queries reads before it begins. */
import { loadLinkDataset, type LinkDataset } from '../../datasets/links/link-dataset.js';
import { linkNotes } from '../../datasets/links/link-notes.js';
import { queriesOf } from '../../evaluation/links/link-queries.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { drawn } from '../../src/run/drawn.js';
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
  const train = draw(dataset.train, data.trainSamples, 'data/train-samples');
  const valid = draw(dataset.valid, data.validSamples, 'data/valid-samples');
  const tails = queriesOf(graph, train, 'tail');
  const queries = linkWalk.bothDirections ? joined(tails, queriesOf(graph, train, 'head')) : tails;
  const asked = linkWalk.bothDirections ? 'tails and heads' : 'tails';
  return {
    dataset,
    queries,
    valid,
    watched: draw(valid, ppo.evalSamples, 'train/eval-samples'),
    notes: [
      `${queries.heads.length} train queries (${asked} of ${train.heads.length} triples) and ${valid.heads.length} valid triples on graph ${graph.name}: ${graph.numEntities} entities, ${graph.numEdges} edges with inverses`,
      ...linkNotes(dataset.manifest),
    ],
  };
}

function joined(a: TripleColumns, b: TripleColumns): TripleColumns {
  const column = (of: (part: TripleColumns) => ArrayLike<number>) => {
    const both = new Int32Array(of(a).length + of(b).length);
    both.set(of(a));
    both.set(of(b), of(a).length);
    return both;
  };
  return {
    heads: column(({ heads }) => heads),
    relations: column(({ relations }) => relations),
    tails: column(({ tails }) => tails),
  };
}

/** A seeded draw in the order of the triples; all where `count` is null. */
function draw({ heads, relations, tails }: TripleColumns, count: number | null, name: string): TripleColumns {
  const places = drawn(Array.from(heads.keys()), count ?? Infinity, name);
  const column = (values: ArrayLike<number>) => Int32Array.from(places, (place) => values[place]!);
  return { heads: column(heads), relations: column(relations), tails: column(tails) };
}
