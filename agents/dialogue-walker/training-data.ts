/** Inputs of a run over dialogues: graph, edges, samples and notes on them. */
import { type LinkedTurns, linkedTurnsOf } from './linked-turns.js';
import { type DialogueDataset, loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { splitSamples, type WalkSample } from '../../datasets/walk-sample.js';
import { walkRulesOf } from '../../envs/dialogue-walk/rules.js';
import { walkGraph, type WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { goldWalks } from './demonstrations.js';
import type { TrainSettings } from '../train-settings.js';
import { dialogueWalkId } from '../../envs/dialogue-walk/dialogue-walk-env.js';
import { makeVectorEnv } from '../../envs/registry.js';

/** Label of scores of agents that read the text after the path was chosen. */
export const oracleLabel = 'oracle: reads the reply';

/** @throws WorkbenchError `data` for a data set that is not there or that the rules of the walk cannot use */
export async function openDialogueData(settings: Pick<TrainSettings, 'clone' | 'data' | 'env' | 'ppo'>) {
  const dataset = loadDialogueDataset(settings.data.dataset);
  const graph = await dataset.loadGraph(settings.data.graph);
  const walks = walkGraph(graph, settings.env, dataset);
  const graphs = { graph, walks };
  const train = samplesOfSplit(dataset, graphs, settings, 'train');
  const valid = samplesOfSplit(dataset, graphs, settings, 'valid');
  // Train turns without annotation, if enabled.
  const linked = linkedTurnsOf(dataset, graph, train, settings.data, settings.clone.linkedTurns);
  const notes = [
    `${train.length} train and ${valid.length} valid samples on graph ${graph.name}`,
    ...(linked ? [linkedNote(linked)] : []),
    ...(settings.data.oracle === null ? [] : [`warning: ${oracleLabel}: its scores are no walker’s`]),
    ...selectionNotes(walks, { train, valid }),
    ...releasedNotes(settings),
  ];
  return { dataset, ...graphs, train, valid, linked, notes };
}

function linkedNote({ samples, weight, inCounts }: LinkedTurns): string {
  const oneHop = samples.filter(({ gold }) => gold.path.length === 1).length;
  const counted = inCounts ? 'in the counts of train walks, too' : 'not in the counts of train walks';
  return `${samples.length} linked turns of train (${oneHop} of one hop, ${samples.length - oneHop} of two), of weight ${weight}, ${counted}`;
}

/** Settings that repeat what LLM-ARK's released code does where its paper says something else. */
function releasedNotes({ env, ppo }: Pick<TrainSettings, 'env' | 'ppo'>): string[] {
  if (!ppo.enabled) return [];
  return [
    ...(env.reward.kind === 'first-hop'
      ? ['warning: env.reward.kind=first-hop rewards the end of the first hop, not the target, as LLM-ARK’s code does']
      : []),
    ...(ppo.trainHorizon !== null && ppo.trainHorizon < env.horizon
      ? [
          `warning: ppo.trainHorizon=${ppo.trainHorizon} trains on walks of ${ppo.trainHorizon} and evaluates walks of ${env.horizon}, as LLM-ARK’s scripts do`,
        ]
      : []),
  ];
}

export interface RunGraphs {
  /** The whole graph: what golds are held against. */
  graph: Graph;
  /** The edges of it that walks may take. */
  walks: WalkGraph;
}

/** @throws WorkbenchError `data` for a split without a gold that the rules of the walk can reach */
export function samplesOfSplit(
  dataset: DialogueDataset,
  { graph, walks }: RunGraphs,
  { data, env }: Pick<TrainSettings, 'data' | 'env'>,
  split: 'train' | 'valid',
): WalkSample[] {
  const samples = splitSamples(dataset, graph, data, split);
  if (goldWalks(samples, walks.graph, walkRulesOf(env)).length > 0) return samples;
  const lists = walks.selection ? `, in lists of ${env.maxOut} actions` : '';
  throw new WorkbenchError(
    'data',
    `expected samples whose path is in graph ${graph.name}${lists} and within ${env.horizon} hops, got none, at split ${split} of ${data.dataset}`,
    { hint: '`kgwalk datasets stats` shows what each split holds.' },
  );
}

/**
 * One line a fact; none where every edge may be walked.
 * @param splits samples by name, at least one each; the share of remaining golds is reported for each
 */
function selectionNotes(
  { graph, selection }: WalkGraph,
  splits: Readonly<Record<string, readonly WalkSample[]>>,
): string[] {
  if (!selection) return [];
  const { policy, maxOut, entitiesCut, edges, kept } = selection;
  const left = Object.entries(splits).map(([name, samples]) => {
    const walkable = samples.filter(({ gold }) => graph.holds(gold.path)).length;
    return `${((100 * walkable) / samples.length).toFixed(1)} % of ${name}`;
  });
  const warning = leakWarning({ selection });
  return [
    `edges ${policy}: ${kept} of ${edges} may be walked, at most ${maxOut} actions a state, ${entitiesCut} entities cut; gold paths that are left: ${left.join(', ')}`,
    ...(warning === undefined ? [] : [warning]),
  ];
}

/** Caveat for scores of a walker over edges that dialogues of valid and test selected. */
export function leakWarning({ selection }: Pick<WalkGraph, 'selection'>): string | undefined {
  if (!selection?.brought) return undefined;
  const { valid, test } = selection.brought;
  return `warning: edgePolicy=ark leaks: ${valid} edges may be walked because dialogues of valid walk them, ${test} because those of test do; compare its scores with LLM-ARK’s alone`;
}

/** Parts of an observation that walkers over dialogues read. */
const readFields = ['task', 'start', 'current', 'hop', 'path', 'actionMask'];

/** @throws WorkbenchError `config` where an environment cannot be made over dialogues, or shows something else */
export function refuseForeignEnv(
  { env, ppo }: Pick<TrainSettings, 'env' | 'ppo'>,
  { walks }: RunGraphs,
  train: readonly WalkSample[],
): void {
  if (env.id === dialogueWalkId || !ppo.enabled) return;
  const wrong = (expected: string, got: string, cause?: unknown) =>
    new WorkbenchError('config', `expected ${expected}, got ${got}, at env.id=${env.id}`, {
      hint: 'Environments with vector observations and discrete actions are trained by trainPolicy: docs/tutorials/your-environment.md.',
      cause,
    });
  let shown: unknown;
  try {
    const envs = makeVectorEnv(
      env.id as typeof dialogueWalkId,
      { graph: walks.graph, samples: train, rules: walkRulesOf(env), reward: env.reward, gamma: ppo.gamma },
      1,
    );
    try {
      shown = envs.reset({ options: [{ sample: 0 }] }).observations[0];
    } finally {
      envs.close();
    }
  } catch (error) {
    throw wrong('an environment over dialogues', `"${(error as Error).message}" when it was made`, error);
  }
  const missing = readFields.filter((field) => !Object.hasOwn(Object(shown) as object, field));
  if (missing.length === 0) return;
  throw wrong(`an observation with ${readFields.join(', ')}`, `${nameOf(shown)} without ${missing.join(', ')}`);
}

function nameOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { name } = value.constructor;
  return name === 'Object' ? 'one' : `a ${name}`;
}
