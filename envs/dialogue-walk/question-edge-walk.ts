/**
 * `kgwalk/QuestionEdgeWalk-v1`: one entity at a time from a question's topic to a right answer, as MINERVA walks.
 *
 * It is the dialogue walk: a question is a dialogue of one message, so the walkers, features and trainers of dialogues
 * take it as it is. What differs: the topic never comes back (edges into it are illegal), and any right answer is a hit.
 * @source Das et al. 2018, arXiv:1711.05851
 */
import { maskedQuestion, type QuestionSample, type QuestionTask } from '../../datasets/question.js';
import type { WalkSample, WalkTask } from '../../datasets/walk-sample.js';
import { type Graph, unknownId } from '../../src/kg/graph.js';
import { dialogueWalkWorld, type DialogueWalkWorld } from './dialogue-walk-env.js';
import type { WalkRules } from './rules.js';

/** Id of the environment that walks edges from a question’s topic. */
export const questionEdgeWalkId = 'kgwalk/QuestionEdgeWalk-v1';

/** Three steps; who is there may stay from the second step on. */
export const questionWalkRules: WalkRules = { horizon: 3, equalAtStep1: false, noReturn: true };

/** What `makeEnv('kgwalk/QuestionEdgeWalk-v1', …)` takes. */
export interface QuestionEdgeWalkOptions {
  graph: Graph;
  /** At least one must have a walkable topic. */
  samples: readonly QuestionSample[];
  /** Default: three steps, no way back to the topic, unless the data set's gold paths go there (`topicsReturn`). */
  rules?: WalkRules;
  /** `hit` where the walk ends at a right answer, else `miss`. Default 1 and 0. */
  reward?: { kind: 'target'; hit: number; miss: number };
  /** Whether the walker reads the topic's name in the question; default: `[E]`. */
  keepName?: boolean;
}

/**
 * A question as a walk: one message, from the first topic that the graph has. Questions for a truth value have no start,
 * so nothing walks them.
 */
export function edgeWalkTask(task: QuestionTask, keepName = false): WalkTask {
  const topic = task.topics.find(({ entity }) => entity >= 0) ?? task.topics[0];
  return {
    id: task.id,
    dialogueId: task.id,
    messages: [{ sender: 'user', text: keepName ? task.question : maskedQuestion(task) }],
    sender: 'assistant',
    start: task.form === 'entities' ? (topic?.entity ?? unknownId) : unknownId,
    startName: topic?.name ?? '',
    earlierPaths: [],
  };
}

/** The task with its right ends. */
export function edgeWalkSample({ task, gold }: QuestionSample, keepName = false): WalkSample {
  const targets = gold.answers.map(({ entity }) => entity).filter((entity) => entity >= 0);
  return {
    task: edgeWalkTask(task, keepName),
    gold: { path: [], target: targets[0] ?? unknownId, targets, inGraph: targets.length > 0 },
  };
}

/** @throws WorkbenchError `data` when no question can be walked */
export function questionEdgeWalkWorld(options: QuestionEdgeWalkOptions): DialogueWalkWorld {
  return dialogueWalkWorld({
    id: questionEdgeWalkId,
    graph: options.graph,
    samples: options.samples.map((sample) => edgeWalkSample(sample, options.keepName)),
    rules: options.rules ?? { ...questionWalkRules, noReturn: !options.samples.some(({ task }) => task.topicsReturn) },
    reward: options.reward ?? { kind: 'target', hit: 1, miss: 0 },
  });
}
