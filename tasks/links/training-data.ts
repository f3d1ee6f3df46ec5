/** Inputs of training on link queries. */
import { type LinkDataset, linkNotes, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { envSettings, type LinkWalkSettings, stateTextSettings } from '../../envs/settings.js';
import { type Graph, joinTriples, sampledTriples, type TripleColumns } from '../../src/kg/graph.js';
import { diffConfig } from '../../src/run/config-values.js';
import { dialogueSettingProblems } from '../../trainers/check-settings.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { queriesOf } from './ranks.js';
import type { StartVectors } from '../../agents/link-walker/vectors.js';
import type { LinkShaping } from '../../envs/link-query/world.js';
import type { LinkScorer } from '../../src/embedding/scorers.js';
import { calibratedProbability } from '../../src/embedding/calibrated-probability.js';
import { madeFrom } from '../../src/run/provenance.js';
import { type LinkScorerSection, type OpenedScorer, openLinkScorer } from '../../trainers/embeddings/link-scorers.js';
import type { Session } from '../../trainers/session.js';

export interface LinkTrainingData {
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
  const hiding = hidingOf(dataset, linkWalk.hide);
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
    ],
  };
}

/** Below this share of train's parallel edges valid is another world than train: what is never there must not be learned from. */
const fewPairs = 0.1;

/**
 * Which edges a train query must not see. Where valid's pairs hardly ever have another edge in train, those of train are hidden from its
 * queries, which would reveal what queries must not contain; elsewhere they are what a query may use.
 */
export function hidingOf(
  { graph, train, valid }: Pick<LinkDataset, 'graph' | 'train' | 'valid'>,
  hide: LinkWalkSettings['hide'],
): { pairs: boolean; note: string } {
  const [ofTrain, ofValid] = [pairShare(graph, train), pairShare(graph, valid)];
  const pairs = hide === 'auto' ? valid.heads.length > 0 && ofValid < fewPairs * ofTrain : hide === 'pairs';
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const what = pairs ? 'every edge between its two entities' : 'its own edge and the inverse';
  return {
    pairs,
    note: `hidden from a train query: ${what} (another edge of train between the two have ${percent(ofTrain)} of train and ${percent(ofValid)} of valid)`,
  };
}

/** Share of triples whose head and tail some other edge of the graph links, in either direction. */
function pairShare(graph: Graph, { heads, relations, tails }: TripleColumns): number {
  const plain = graph.numRelations / 2;
  let linked = 0;
  heads.forEach((head, i) => {
    const [relation, tail] = [relations[i]!, tails[i]!];
    for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
      if (graph.tails[edge] !== tail) continue;
      const own = graph.relations[edge]! % plain === relation && (graph.relations[edge] === relation || head === tail);
      if (own) continue;
      linked++;
      break;
    }
  });
  return heads.length === 0 ? 0 : linked / heads.length;
}

export function linkProblems(settings: TrainSettings): string[] {
  const { data, env, stateText, transe, bilinear, linkWalk, linkWalker, ppo } = settings;
  const { dataset, trainSamples, validSamples } = data;
  const problems = dialogueSettingProblems(settings);
  const wanted = (ok: boolean, expected: string, got: unknown) => {
    if (!ok) problems.push(`expected ${expected} with env.id=${env.id}, got ${String(got)}`);
  };
  const changed = (section: string, own: object, usual: object) =>
    diffConfig(own, usual).map((key) => `${section}.${key}`);
  const unread = [
    ...changed('env', env, envSettings.parse({ id: env.id })),
    ...changed('stateText', stateText, stateTextSettings.parse({})),
    ...changed('data', data, dataSettings.parse({ dataset, trainSamples, validSamples })),
  ];
  wanted(unread.length === 0, 'the rules of the walk in the section linkWalk', unread.join(', '));
  wanted(ppo.gradient === 'sampled', 'ppo.gradient=sampled', ppo.gradient);
  wanted(ppo.trainHorizon === null, 'ppo.trainHorizon=null', ppo.trainHorizon);
  const enabled = { transe: transe.enabled, bilinear: bilinear.enabled };
  for (const [key, section] of [
    ['linkWalker.vectors', linkWalker.vectors],
    ['linkWalk.shapingScorer', linkWalk.shaping === 'none' ? 'random' : linkWalk.shapingScorer],
  ] as const) {
    if (section !== 'random') wanted(enabled[section], `${section}.enabled=true, which ${key} reads,`, false);
  }
  wanted(
    linkWalker.trainVectors || linkWalker.vectors !== 'random',
    'linkWalker.vectors=transe or bilinear with linkWalker.trainVectors=false, which leaves vectors as they start,',
    linkWalker.vectors,
  );
  return problems;
}

/** Trains or reuses what the settings ask for, once each. @throws WorkbenchError `stopped` after saving */
export async function openScorers({ run, logs, settings, ...options }: Session, { dataset }: LinkTrainingData) {
  const { linkWalk, linkWalker } = settings;
  const opened = new Map<LinkScorerSection, OpenedScorer>();
  const open = async (name: LinkScorerSection) => {
    const known = opened.get(name);
    if (known) return known;
    run.update({ phase: name });
    const scorer = await openLinkScorer(name, dataset, settings, options);
    logs.timing(name, 1, { 'time/reused': Number(scorer.reused) });
    opened.set(name, scorer);
    return scorer;
  };
  const start: StartVectors | undefined =
    linkWalker.vectors === 'random' ? undefined : (await open(linkWalker.vectors)).table;
  if (linkWalk.shaping === 'none') return { start, shaping: undefined };
  const { scorer } = await open(linkWalk.shapingScorer);
  return { start, shaping: shapingOf(linkWalk.shaping, scorer, dataset, settings) };
}

/** Shaping reward, by the probability that a scorer gives. */
export function shapingOf(
  kind: LinkShaping['kind'],
  scorer: LinkScorer,
  { graph, valid, trainKnown }: LinkTrainingData['dataset'],
  { linkWalk, ppo, seed }: Pick<TrainSettings, 'linkWalk' | 'ppo' | 'seed'>,
): LinkShaping {
  // Fitted on valid, which chooses everything else as well; on train the scorer is surer than it may be.
  const triples = valid.heads.length;
  madeFrom('normaliser', 'probability of triples', { graph: graph.hash, split: 'valid', triples });
  const probability = calibratedProbability(scorer, valid, trainKnown, seed);
  return { kind, weight: linkWalk.shapingWeight, gamma: ppo.gamma, probability };
}
