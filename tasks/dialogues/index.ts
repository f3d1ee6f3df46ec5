/** Dialogues: walk from an entity to what the speaker names next. */
import type { Answer } from '../../agents/agent.js';
import { dialogueAgents } from '../../agents/dialogue-agents.js';
import {
  earlierText,
  entityTexts,
  lastMessageText,
  readsEarlier,
  readsNames,
  relationTexts,
  windowText,
} from '../../agents/walker/vectors.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { goldWalks } from '../../trainers/demonstrations.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { ppoWork, type Task, type TrainingPlan } from '../task.js';
import { openScoredAgent, refuseIdle } from './agents.js';
import { openAskDialogue } from './ask.js';
import { dialogueData, type DialogueEvaluationData, dialogueFlagsOf } from './data.js';
import { dialogueEnvironment } from './environment.js';
import { evaluationLeaks, runLeaks } from './leaks.js';
import { dialogueLearning } from './learn.js';
import { predictionsFile } from './predictions.js';
import { pretrainDialogues } from './pretrain.js';
import type { DialogueRow } from './row.js';
import { dialogueMeasure } from './score.js';
import { dialoguesImported, dialogueStatistics, listedDialogues } from './statistics.js';
import { openDialogueData } from './training-data.js';

/** The task of dialogues. */
export const dialogues: Task<WalkSample, Answer, DialogueRow, DialogueEvaluationData> = {
  name: 'dialogues',
  exampleDataset: 'opendialkg',
  measure: dialogueMeasure,
  agents: dialogueAgents,
  data: dialogueData,
  openAgent: openScoredAgent,
  refuse: refuseIdle,
  flagsOf: dialogueFlagsOf,
  predictions: predictionsFile,
  asked: ['question'],
  openAsk: openAskDialogue,
  learning: dialogueLearning,
  environment: dialogueEnvironment,
  plan: dialoguePlan,
  embeddedGraph: (dataset, graph) => loadDialogueDataset(dataset).loadGraph(graph),
  pretrain: pretrainDialogues,
  imported: dialoguesImported,
  listed: listedDialogues,
  statistics: dialogueStatistics,
  graphOf: ({ config }) => dataSettings.parse(config.data ?? {}).graph,
  leaks: (name, of, split) => ('run' in of ? runLeaks(name, of, split) : evaluationLeaks(name, of.folder, split)),
};

async function dialoguePlan(settings: TrainSettings): Promise<TrainingPlan> {
  const { graph, walks, train, valid, linked, notes } = await openDialogueData(settings);
  const cloned = [...train, ...(settings.clone.enabled ? (linked?.samples ?? []) : [])];
  const tasks = [...cloned, ...valid].map(({ task }) => task);
  const { nameTokens, lastMessageTokens, windowTokens, windowMessages } = settings.encoder;
  const golds = goldWalks(cloned, walks.graph, settings.env).length;
  const { transe, clone } = settings;
  const updates = clone.epochs * Math.ceil(golds / clone.batchSize);
  const names = { texts: [...entityTexts(graph), ...relationTexts(graph)], maxTokens: nameTokens };
  const earlier = readsEarlier(settings.walker)
    ? [1, 2].map((back) => tasks.map((task) => earlierText(task, back)))
    : [];
  const messages = [
    { texts: tasks.map(lastMessageText), maxTokens: lastMessageTokens },
    { texts: tasks.map((task) => windowText(task, windowMessages)), maxTokens: windowTokens },
    ...earlier.map((texts) => ({ texts, maxTokens: lastMessageTokens })),
  ];
  const perStep = settings.stateText.encode === 'per-step';
  return {
    notes,
    before: { transe: transe.enabled ? `${transe.epochs} epochs at most over ${graph.numEdges} edges` : 'off' },
    phases: {
      clone: clone.enabled ? `${updates} updates of ${clone.batchSize} samples` : 'off',
      ppo: ppoWork(settings, 'samples'),
    },
    texts: [...(readsNames(settings.walker) ? [names] : []), ...(perStep ? [] : messages)],
    ...(perStep && { walks: { graph: walks.graph, train, valid } }),
  };
}
