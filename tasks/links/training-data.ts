/** What training on link queries reads before it begins. */
import { type LinkDataset, linkNotes, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { envSettings } from '../../envs/settings.js';
import { stateTextSettings } from '../../envs/settings.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { sampledTriples } from '../../src/kg/graph.js';
import { joinTriples } from '../../src/kg/graph.js';
import { diffConfig } from '../../src/run/config.js';
import { dialogueSettingProblems } from '../../trainers/check-settings.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { queriesOf } from './ranks.js';

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

/** One line a contradiction. */
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
