/** The samples that a run trains or is judged on. */
import type { DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { splitSamples, type WalkSample } from '../../datasets/walk-sample.js';
import { walkRulesOf } from '../../envs/dialogue-walk/rules.js';
import type { WalkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { goldWalks } from '../demonstrations.js';
import type { TrainSettings } from '../train-settings.js';

/** The graph of a run, and what of it may be walked. */
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
