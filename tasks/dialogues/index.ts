/** Dialogues: walk from an entity to what the speaker names next. */
import type { Answer } from '../../agents/agent.js';
import { dialogueAgents } from '../../agents/dialogue-agents.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { type Task, type PretrainFlags, type Shown, ShownPage, type Work } from '../task.js';
import { openScoredAgent, refuseIdle } from './agents.js';
import { openAskDialogue } from './ask.js';
import { dialogueData, type DialogueEvaluationData, dialogueFlagsOf } from './data.js';
import { dialogueEnvironment } from './environment.js';
import { evaluationLeaks, runLeaks } from './leaks.js';
import { dialogueTrainer } from './learn.js';
import { predictionsFile } from './predictions.js';
import type { DialogueRow } from './row.js';
import { dialogueMeasure } from './score.js';
import { dialoguesImported, dialogueStatistics, listedDialogues } from './statistics.js';
import { shownMetrics } from '../../src/embedding/rank-links.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { pretrainEmbeddings } from '../../trainers/transe/pretrain.js';
import { dialogueTriples } from '../../trainers/transe/triples.js';

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
  learning: dialogueTrainer,
  environment: dialogueEnvironment,
  embeddedGraph: async (dataset, graph) => ({ graph: await loadDialogueDataset(dataset).loadGraph(graph) }),
  pretrain: pretrainDialogues,
  imported: dialoguesImported,
  listed: listedDialogues,
  statistics: dialogueStatistics,
  graphOf: ({ config }) => dataSettings.parse(config.data ?? {}).graph,
  leaks: (name, of, split) => ('run' in of ? runLeaks(name, of, split) : evaluationLeaks(name, of.folder, split)),
};

/** Trains or finds the TransE table; where it is and how it ranks the facts that were held out. */
async function pretrainDialogues(
  settings: TrainSettings,
  { threads, test }: PretrainFlags,
  { progress, signal }: Work,
): Promise<Shown> {
  const { dataset, graph } = settings.data;
  if (test) {
    throw new WorkbenchError('usage', `expected a data set of links with --test, got ${dataset}`, {
      hint: 'Leave --test out: a graph of dialogues has no test facts.',
    });
  }
  const data = loadDialogueDataset(dataset);
  const walked = await data.loadGraph(graph);
  const { file, reused, metrics, history } = await pretrainEmbeddings(walked, {
    settings: settings.transe,
    seed: settings.seed,
    exclude: dialogueTriples(data, walked),
    threads,
    progress,
    signal,
  });
  const page = new ShownPage({ file, reused, epochs: history.length, metrics });
  page.line(`${reused ? 'kept from before' : `trained in ${history.length} epochs`}: ${file}`);
  if (metrics) page.line(`held-out facts, filtered: ${shownMetrics(metrics)}`);
  return page;
}
