/** Inputs of training on link queries. */
import { type LinkDataset, linkNotes, loadLinkDataset } from '../datasets/links/link-dataset.js';
import { dataSettings } from '../datasets/settings.js';
import { envSettings, type LinkWalkSettings, stateTextSettings } from '../envs/settings.js';
import { type Graph, joinTriples, pickTriples, sampledTriples, type TripleColumns } from '../src/kg/graph.js';
import { diffConfig } from '../src/run/config-values.js';
import { dialogueSettingProblems } from './dialogue-walker/problems.js';
import type { LinkOptions, LoadedRanker } from './link-ranker.js';
import type { Method } from './method.js';
import type { TrainSettings } from './train-settings.js';
import { queriesOf } from './link-ranks.js';

/** Input of methods that are trained on link queries. */
export interface LinkTraining {
  dataset: LinkDataset;
  /** Train's triples as queries of the directions that are trained. */
  queries: TripleColumns;
  /** Triples of valid that the best checkpoint is evaluated on: all, or the settings' draw. */
  valid: TripleColumns;
  /** Those of them that curves are made of: a seeded sample, or all. */
  watched: TripleColumns;
  /** Hide every edge between the ends of a train query from it, or its own edge alone. */
  hidePairs: boolean;
  /** Notes to print before training. */
  notes: string[];
}

/** Method that is trained on link queries. */
export type LinkMethod = Method<LinkTraining, LinkOptions, LoadedRanker>;

/** @throws WorkbenchError `data` for a data set that is not there or holds something else */
export async function openLinkTraining({
  data,
  linkWalk,
  ppo,
}: Pick<TrainSettings, 'data' | 'linkWalk' | 'ppo'>): Promise<LinkTraining> {
  const dataset = await loadLinkDataset(data.dataset);
  const { graph } = dataset;
  const hiding = hidingOf(dataset, linkWalk.hide);
  const asks = linkWalk.queries === 'auto' && hiding.pairs ? likeValid(dataset.train, hiding.alone) : dataset.train;
  const train = sampledTriples(asks, data.trainSamples ?? Infinity, 'data/train-samples');
  const valid = sampledTriples(dataset.valid, data.validSamples ?? Infinity, 'data/valid-samples');
  const tails = queriesOf(graph, train, 'tail');
  const queries = linkWalk.bothDirections ? joinTriples([tails, queriesOf(graph, train, 'head')]) : tails;
  const asked = linkWalk.bothDirections ? 'tails and heads' : 'tails';
  return {
    dataset,
    queries,
    valid,
    watched: sampledTriples(valid, ppo.evalSamples ?? Infinity, 'train/eval-samples'),
    hidePairs: hiding.pairs,
    notes: [
      `${queries.heads.length} train queries (${asked} of ${train.heads.length} triples) and ${valid.heads.length} valid triples on graph ${graph.name}: ${graph.numEntities} entities, ${graph.numEdges} edges with inverses`,
      ...linkNotes(dataset.manifest),
      hiding.note,
      ...(asks === dataset.train
        ? []
        : [`asked in training: the ${asks.heads.length} triples of train whose two entities no other edge links`]),
    ],
  };
}

/** Below this share of train's parallel edges valid is another world than train: what is never there must not be learned from. */
const fewPairs = 0.1;

/**
 * Which edges a train query must not see. Where valid's pairs hardly ever have another edge in train, those of train are hidden from its
 * queries, which would reveal what queries must not contain; elsewhere they are what a query may use.
 * @returns with the places of train's triples that no other edge links
 */
export function hidingOf(
  { graph, train, valid }: Pick<LinkDataset, 'graph' | 'train' | 'valid'>,
  hide: LinkWalkSettings['hide'],
): { pairs: boolean; alone: Int32Array; note: string } {
  const alone = unlinked(graph, train);
  const linked = ({ heads }: TripleColumns, own: Int32Array) => (heads.length - own.length) / Math.max(1, heads.length);
  const [ofTrain, ofValid] = [linked(train, alone), linked(valid, unlinked(graph, valid))];
  const pairs = hide === 'auto' ? valid.heads.length > 0 && ofValid < fewPairs * ofTrain : hide === 'pairs';
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const what = pairs ? 'every edge between its two entities' : 'its own edge and the inverse';
  return {
    pairs,
    alone,
    note: `hidden from a train query: ${what} (another edge of train between the two have ${percent(ofTrain)} of train and ${percent(ofValid)} of valid)`,
  };
}

/** Places of the triples whose head and tail no other edge of the graph links, in either direction. */
export function unlinked(graph: Graph, { heads, relations, tails }: TripleColumns): Int32Array {
  const plain = graph.numRelations / 2;
  return Int32Array.from(heads.keys()).filter((i) => {
    const [head, relation, tail] = [heads[i]!, relations[i]!, tails[i]!];
    for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
      if (graph.tails[edge] !== tail) continue;
      const own = graph.relations[edge]! % plain === relation && (graph.relations[edge] === relation || head === tail);
      if (!own) return false;
    }
    return true;
  });
}

/** Below this share of train what remains would be another sample than train, not a better one. */
const enoughAlone = 0.25;

/** The triples at the given places; all where too few remain. */
function likeValid(train: TripleColumns, alone: Int32Array): TripleColumns {
  const { length } = train.heads;
  return alone.length === length || alone.length < enoughAlone * length ? train : pickTriples(train, alone);
}

/** Settings that nothing trained on link queries reads, or that contradict each other, one line each. */
export function linkProblems(settings: TrainSettings): (string | false)[] {
  const { data, env, stateText, ppo } = settings;
  const { dataset, trainSamples, validSamples } = data;
  const wanted = (ok: boolean, expected: string, got: unknown) =>
    !ok && `expected ${expected} with env.id=${env.id}, got ${String(got)}`;
  const changed = (section: string, own: object, usual: object) =>
    diffConfig(own, usual).map((key) => `${section}.${key}`);
  const unread = [
    ...changed('env', env, envSettings.parse({ id: env.id })),
    ...changed('stateText', stateText, stateTextSettings.parse({})),
    ...changed('data', data, dataSettings.parse({ dataset, trainSamples, validSamples })),
  ];
  return [
    ...dialogueSettingProblems(settings),
    wanted(unread.length === 0, 'the rules of the walk in the section linkWalk', unread.join(', ')),
    wanted(ppo.gradient === 'sampled', 'ppo.gradient=sampled', ppo.gradient),
    wanted(ppo.trainHorizon === null, 'ppo.trainHorizon=null', ppo.trainHorizon),
  ];
}
