/** Walks over questions as environments, for programs that step them themselves. */
import { questionText } from '../../agents/relation-walker/question-vectors.js';
import { relationTexts } from '../../agents/dialogue-walker/vectors.js';
import type { QuestionSample } from '../../datasets/question.js';
import { loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import { type RelationWalkObservation, type RelationWalkOptions } from '../../envs/relation-walk/relation-walk-env.js';
import type { Graph } from '../../src/kg/graph.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import { encodedRows, type ObservationVectors } from '../observation-vectors.js';
import type { EnvironmentFlags, TaskEnvironment, Work } from '../task.js';
import { answeredQuestions } from '../../datasets/questions/training-questions.js';

/** @throws WorkbenchError `usage` for a subset or split that there is not, `data` for one without a question with answers */
export async function questionEnvironment(
  settings: TrainSettings,
  { split, encoder }: EnvironmentFlags,
  work: Work,
): Promise<TaskEnvironment> {
  const { data, relationWalk } = settings;
  const dataset = loadQuestionDataset(data.dataset);
  const subsets = data.subsets === 'all' ? dataset.subsets : data.subsets;
  const graph = await dataset.loadGraph(subsets);
  const samples = answeredQuestions(dataset, graph, { ...data, subsets }, split);
  work.note(`${samples.length} ${split} questions on graph ${graph.name}`);
  const { horizon, hops, reward } = relationWalk;
  const options: RelationWalkOptions = { graph, samples, rules: { horizon, hops }, reward };
  const vectors = encoder === undefined ? undefined : await relationVectors(encoder, graph, samples, settings, work);
  return { options, vectors };
}

/** Vector of an observation: the question, then the sum of the relations walked. */
async function relationVectors(
  encoder: string,
  graph: Graph,
  samples: readonly QuestionSample[],
  settings: TrainSettings,
  work: Work,
): Promise<ObservationVectors> {
  const { keepName, maxTokens } = settings.relationWalker;
  const kinds = {
    questions: { texts: samples.map(({ task }) => questionText(task, keepName)), maxTokens },
    relations: { texts: relationTexts(graph), maxTokens: settings.encoder.nameTokens },
  };
  const { questions, relations } = await encodedRows(encoder, kinds, settings.encoder, work);
  const rowOf = new Map(samples.map(({ task }, row) => [task.id, row]));
  return {
    length: questions.dim + relations.dim,
    write({ task, relations: walked }: RelationWalkObservation, into, at) {
      questions.add(rowOf.get(task.id)!, into, at);
      for (const relation of walked) relations.add(relation, into, at + questions.dim);
    },
  };
}
