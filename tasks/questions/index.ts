/** Questions: answer from a graph, by relation chains or edges, with answers alone to learn from. */
import type { QuestionAnswer } from '../../agents/question-agent.js';
import { questionAgents } from '../../agents/question-agents.js';
import { readerKind } from '../../agents/readers/load-reader.js';
import { wordTexts } from '../../agents/readers/words/inputs.js';
import { questionText } from '../../agents/relation-walker/question-vectors.js';
import { wordSettings } from '../../agents/relation-walker/word-network.js';
import { entityTexts, relationTexts } from '../../agents/walker/vectors.js';
import type { QuestionSample } from '../../datasets/question.js';
import { listDatasets } from '../../datasets/dataset.js';
import { parseDatasetName } from '../../datasets/questions/question-dataset.js';
import { relationWalkId } from '../../envs/relation-walk/relation-walk-env.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { TrainSettings } from '../../trainers/train-settings.js';
import { datasetOf } from '../named-runs.js';
import { ppoWork, type Task, type TrainingPlan } from '../task.js';
import { openScoredAgent, openSimulated, refuseIdle, suitsModel } from './agents.js';
import { openAskQuestion } from './ask.js';
import { questionData, type QuestionData, questionFlagsOf } from './data.js';
import { questionEnvironment } from './environment.js';
import { evaluationLeaks, runLeaks } from './leaks.js';
import { questionLearning } from './learn.js';
import type { QuestionRow } from './row.js';
import { questionMeasure, unionShown } from './score.js';
import { traceOf } from './show.js';
import { listedQuestions, questionsImported, questionStatistics } from './statistics.js';
import { readerTraining } from './reader.js';
import { openTeacher, teacherNote } from './teacher.js';
import { loadTrainingQuestions } from './training-data.js';

/** The task of questions. */
export const questions: Task<QuestionSample, QuestionAnswer, QuestionRow, QuestionData> = {
  name: 'questions',
  exampleDataset: 'metaqa/2-hop',
  measure: questionMeasure,
  agents: questionAgents,
  suits: suitsModel,
  data: questionData,
  openAgent: openScoredAgent,
  refuse: refuseIdle,
  openSimulated,
  flagsOf: questionFlagsOf,
  trace: (row, traced, { graph }) => traceOf(row, traced, graph),
  together: unionShown,
  asked: ['question'],
  openAsk: openAskQuestion,
  learning: questionLearning,
  environment: questionEnvironment,
  plan: questionPlan,
  pretrain() {
    throw new WorkbenchError('usage', 'expected data of dialogues or links to pretrain vectors of, got questions', {
      hint: 'Walkers over questions read no pretrained vectors: train them at once.',
    });
  },
  imported: questionsImported,
  listed: listedQuestions,
  statistics: questionStatistics,
  graphOf(run) {
    const { name, subsets } = parseDatasetName(datasetOf(run) ?? '');
    const manifest = listDatasets(['questions']).find((one) => one.name === name);
    return manifest?.subsets[subsets?.[0] ?? Object.keys(manifest.subsets)[0]!]?.graph;
  },
  leaks: (name, of, split) => ('run' in of ? runLeaks(name, of, split) : evaluationLeaks(name, of.folder, split)),
};

async function questionPlan(settings: TrainSettings): Promise<TrainingPlan> {
  const questions = await loadTrainingQuestions(settings);
  const { graph, train, valid } = questions;
  const { reader } = settings;
  if (reader) {
    const { notes } = readerTraining({ ...settings, reader }, questions);
    const tasks = [...train, ...valid].map(({ task }) => task);
    const texts = readerKind(reader.kind).texts({ graph, settings: reader }, tasks);
    const { steps, batchSize } = reader.fit;
    return {
      ...{
        notes: [...notes],
        before: {},
        texts: [{ texts: [...texts], maxTokens: settings.relationWalker.maxTokens }],
      },
      phases: { fit: `${steps} steps of ${batchSize} questions` },
    };
  }
  const teacher = await openTeacher(settings, questions);
  const overEdges = settings.env.id !== relationWalkId;
  const { nameTokens, lastMessageTokens } = settings.encoder;
  const { keepName, maxTokens } = overEdges
    ? { keepName: false, maxTokens: lastMessageTokens }
    : settings.relationWalker;
  const tasks = [...train, ...valid].map(({ task }) => task);
  const byWords = !overEdges && settings.relationWalker.reads === 'words';
  return {
    notes: [
      `${train.length} train and ${valid.length} valid questions on graph ${graph.name}`,
      ...(teacher ? [teacherNote(teacher.record)] : []),
    ],
    before: { transe: 'off' },
    phases: {
      clone: teacher ? `${settings.clone.epochs} epochs over ${teacher.walks.length} walks` : 'off',
      ppo: ppoWork(settings, 'questions'),
    },
    texts: [
      ...(overEdges ? [{ texts: [...entityTexts(graph), ...relationTexts(graph)], maxTokens: nameTokens }] : []),
      {
        texts: byWords
          ? [...wordTexts(wordSettings(settings.relationWalker), tasks)]
          : tasks.map((task) => questionText(task, keepName)),
        maxTokens,
      },
    ],
  };
}
