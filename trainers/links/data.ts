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
  /** Triples of valid that curves are made of: a seeded sample, or all of them. */
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
  const { graph, train, valid } = dataset;
  const tails = queriesOf(graph, train, 'tail');
  const queries = linkWalk.bothDirections ? joined(tails, queriesOf(graph, train, 'head')) : tails;
  const places = Array.from(valid.heads.keys());
  const chosen = Int32Array.from(drawn(places, ppo.evalSamples ?? Infinity, 'train/eval-samples'));
  const asked = linkWalk.bothDirections ? 'tails and heads' : 'tails';
  return {
    dataset,
    queries,
    watched: picked(valid, chosen),
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

function picked({ heads, relations, tails }: TripleColumns, places: Int32Array): TripleColumns {
  const column = (values: ArrayLike<number>) => places.map((place) => values[place]!);
  return { heads: column(heads), relations: column(relations), tails: column(tails) };
}
