/** Dialogues: walk from an entity to what the speaker names next. */
import type { Answer } from '../../agents/agent.js';
import { dialogueAgents, dialogueMethods } from '../../agents/dialogue-agents.js';
import { dataSettings } from '../../datasets/settings.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { Task } from '../task.js';
import { openScoredAgent, openSimulated, refuseIdle, suitsModel } from './agents.js';
import { askedTurn, openAskDialogue } from './ask.js';
import { dialogueData, type DialogueEvaluationData, dialogueFlagsOf } from './data.js';
import { dialogueEnvironment } from './environment.js';
import { evaluationLeaks, runLeaks } from './leaks.js';
import { evaluateOnValid } from './score.js';
import { predictionsFile } from './predictions.js';
import type { DialogueRow } from './row.js';
import { dialogueMeasure } from './score.js';
import { dialoguesImported, dialogueStatistics, listedDialogues } from './statistics.js';
import { dialogueVectors } from './vectors.js';

export const dialogues: Task<WalkSample, Answer, DialogueRow, DialogueEvaluationData> = {
  name: 'dialogues',
  measure: dialogueMeasure,
  agents: dialogueAgents,
  data: dialogueData,
  openAgent: openScoredAgent,
  refuse: refuseIdle,
  simulated: { suits: suitsModel, open: openSimulated },
  flagsOf: { kept: dialogueFlagsOf },
  learning: dialogueMethods.trainer(() => ({ evaluate: evaluateOnValid })),
  environment: dialogueEnvironment,
  datasets: {
    imported: dialoguesImported,
    listed: listedDialogues,
    statistics: dialogueStatistics,
    graphOf: ({ config }) => dataSettings.parse(config.data ?? {}).graph,
    ...{ runLeaks, evaluationLeaks },
  },
  vectors: dialogueVectors,
  ask: {
    words: ['question'],
    fieldsOf: askedTurn,
    namesOf: ({ graph }) => ({ entities: graph.entityNames, relations: [] }),
    open: openAskDialogue,
  },
  results: { predictions: predictionsFile },
};
