/** Questions: answer from a graph, by relation chains or edges, with answers alone to learn from. */
import type { QuestionAnswer } from '../../agents/question-agent.js';
import { questionAgents, questionMethods } from '../../agents/question-agents.js';
import type { QuestionSample } from '../../datasets/question.js';
import { listDatasets } from '../../datasets/dataset.js';
import { parseDatasetName } from '../../datasets/questions/question-dataset.js';
import { datasetOf } from '../named-runs.js';
import type { Task } from '../task.js';
import { openAgreement } from './agreement.js';
import { openScoredAgent, openSimulated, refuseIdle, suitsModel } from './agents.js';
import { markedQuestion, openAskQuestion } from './ask.js';
import { questionData, type QuestionData, questionFlagsOf } from './data.js';
import { observedDecisions } from './decisions.js';
import { questionEnvironment } from './environment.js';
import { evaluationLeaks, runLeaks } from './leaks.js';
import { openTeacher } from './teacher.js';
import { loadTrainingQuestions } from '../../datasets/questions/training-questions.js';
import type { QuestionRow } from './row.js';
import { questionMeasure, unionShown } from './score.js';
import { traceOf } from './show.js';
import { listedQuestions, questionsImported, questionStatistics } from './statistics.js';

export const questions: Task<QuestionSample, QuestionAnswer, QuestionRow, QuestionData> = {
  name: 'questions',
  measure: questionMeasure,
  agents: questionAgents,
  data: questionData,
  openAgent: openScoredAgent,
  refuse: refuseIdle,
  simulated: { suits: suitsModel, open: openSimulated },
  flagsOf: { kept: questionFlagsOf },
  learning: questionMethods.trainer(async (settings) => {
    const questions = await loadTrainingQuestions(settings);
    return { ...questions, teacher: await openTeacher(settings, questions) };
  }),
  environment: questionEnvironment,
  datasets: {
    imported: questionsImported,
    listed: listedQuestions,
    statistics: questionStatistics,
    graphOf(run) {
      const { name, subsets } = parseDatasetName(datasetOf(run) ?? '');
      const manifest = listDatasets(['questions']).find((one) => one.name === name);
      return manifest?.subsets[subsets?.[0] ?? Object.keys(manifest.subsets)[0]!]?.graph;
    },
    ...{ runLeaks, evaluationLeaks },
  },
  ask: {
    words: ['question'],
    fieldsOf: markedQuestion,
    namesOf: ({ graph }) => ({ entities: graph.entityNames, relations: [] }),
    open: openAskQuestion,
    agreement: openAgreement,
  },
  results: {
    trace: (row, traced, { graph }) => traceOf(row, traced, graph),
    together: unionShown,
    observed: observedDecisions,
  },
};
