/** What a run over dialogues reads before it begins: graph, edges to walk, samples, and what is to be known of them. */
import { loadDialogueDataset, type DialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { walkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import { selectionNotes } from '../../evaluation/edge-notes.js';
import type { TrainSettings } from '../train-settings.js';
import { samplesOfSplit, type RunGraphs } from './samples-of-split.js';

/** All of it. */
export interface DialogueData extends RunGraphs {
  dataset: DialogueDataset;
  train: WalkSample[];
  valid: WalkSample[];
  /** One line a thing that whoever starts the run should know: how much it trains on, what its lists of edges leave out. */
  notes: string[];
}

/** @throws WorkbenchError `data` for a data set that is not there or that the rules of the walk cannot use */
export async function openDialogueData(settings: Pick<TrainSettings, 'data' | 'env' | 'ppo'>): Promise<DialogueData> {
  const dataset = loadDialogueDataset(settings.data.dataset);
  const graph = await dataset.loadGraph(settings.data.graph);
  const walks = walkGraph(graph, settings.env, dataset);
  const graphs = { graph, walks };
  const train = samplesOfSplit(dataset, graphs, settings, 'train');
  const valid = samplesOfSplit(dataset, graphs, settings, 'valid');
  const notes = [
    `${train.length} train and ${valid.length} valid samples on graph ${graph.name}`,
    ...selectionNotes(walks, { train, valid }),
    ...releasedNotes(settings),
  ];
  return { dataset, ...graphs, train, valid, notes };
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
