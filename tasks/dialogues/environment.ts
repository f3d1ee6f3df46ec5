/** Walks over dialogues as an environment, for programs that step it themselves. */
import { entityTexts, lastMessageText } from '../../agents/dialogue-walker/vectors.js';
import { splitNames, splitSamples, type WalkSample } from '../../datasets/walk-sample.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import type { DialogueWalkObservation, DialogueWalkOptions } from '../../envs/dialogue-walk/dialogue-walk-env.js';
import { walkRulesOf } from '../../envs/dialogue-walk/rules.js';
import { walkGraph } from '../../envs/dialogue-walk/walk-graph.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import { splitOf } from '../flags.js';
import { encodedRows, type ObservationVectors } from '../observation-vectors.js';
import type { EnvironmentFlags, TaskEnvironment, Work } from '../task.js';

/** @throws WorkbenchError `usage` for a split that there is not, `data` for one without a start that has edges */
export async function dialogueEnvironment(
  settings: TrainSettings,
  { split: name, encoder }: EnvironmentFlags,
  work: Work,
): Promise<TaskEnvironment> {
  const split = splitOf(name, splitNames);
  const { data, env, ppo } = settings;
  if (env.shaping !== 'none') {
    throw new WorkbenchError('usage', `expected env.shaping=none, got ${env.shaping}, at --set`, {
      hint: 'Shaping belongs to training by kgwalk.',
    });
  }
  const dataset = loadDialogueDataset(data.dataset);
  const whole = await dataset.loadGraph(data.graph);
  const { graph } = walkGraph(whole, env, dataset);
  const samples = splitSamples(dataset, whole, data, split);
  const rules = walkRulesOf(env);
  const options: DialogueWalkOptions = { graph, samples, reward: env.reward, gamma: ppo.gamma, rules };
  work.note(`${samples.length} ${split} samples on graph ${graph.name}, walks of ${env.horizon}`);
  const vectors = encoder === undefined ? undefined : await observationVectors(encoder, graph, samples, settings, work);
  return { options, vectors };
}

/** Vector of an observation: the last message, then the name of the current entity. */
async function observationVectors(
  encoder: string,
  graph: Graph,
  samples: readonly Pick<WalkSample, 'task'>[],
  settings: Pick<TrainSettings, 'encoder'>,
  work: Work,
): Promise<ObservationVectors> {
  const { lastMessageTokens, nameTokens } = settings.encoder;
  const kinds = {
    messages: { texts: samples.map(({ task }) => lastMessageText(task)), maxTokens: lastMessageTokens },
    entities: { texts: entityTexts(graph), maxTokens: nameTokens },
  };
  const { messages, entities } = await encodedRows(encoder, kinds, settings.encoder, work);
  const rowOf = new Map(samples.map(({ task }, row) => [task.id, row]));
  return {
    length: messages.dim + entities.dim,
    write({ task, current }: Pick<DialogueWalkObservation, 'task' | 'current'>, into, at) {
      messages.add(rowOf.get(task.id)!, into, at);
      if (current >= 0) entities.add(current, into, at + messages.dim);
    },
  };
}
