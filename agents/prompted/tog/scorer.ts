/** Scorers of Think-on-Graph's candidates: the language model, word overlap or sentence vectors. */
import { normalizeName } from '../../../src/kg/name-index.js';
import type { Candidate, ContextBlock, DecisionClient } from '../../../src/llm/decision.js';
import type { QuestionTask } from '../../../datasets/question.js';
import type { TextSource } from '../prefilter/text-source.js';
import { readableRelation } from '../self-veqa/sub-graph.js';
import { entityExamples, entityTask, relationExamples, relationTask } from './prompts.js';

interface ScoreQuery {
  task: QuestionTask;
  what: 'relations' | 'entities';
  subjects: readonly number[];
  context: readonly ContextBlock[];
  candidates: readonly Candidate[];
  /** Names of the relations walked so far. */
  walked: readonly string[];
}

export interface Scored {
  /** One weight a candidate, in order, 0 or more. */
  scores: readonly number[];
  /** True when scores are proportional to probabilities; scores written by a model are not. */
  areShares: boolean;
}

/** Undefined: the model's reply could not be read. */
export type Scorer = (query: ScoreQuery, client: DecisionClient) => Promise<Scored | undefined>;

/** The language model scores each candidate from 0 to 10: one call a list. */
export const modelScorer: Scorer = async ({ task, what, subjects, context, candidates }, client) => {
  const relations = what === 'relations';
  const { reply, confidence } = await client.decide({
    kind: 'score',
    phase: relations ? 'relation-prune' : 'entity-prune',
    questionId: task.id,
    question: task.question,
    task: relations ? relationTask : entityTask,
    examples: relations ? relationExamples : entityExamples,
    evidence: [],
    context,
    subjects,
    candidates,
  });
  return reply && { scores: reply.scores, areShares: confidence !== undefined };
};

/** Words of the question and of each candidate are compared, as by the pre-filter: no call. */
export function textScorer(source: TextSource): Scorer {
  return async ({ task, what, walked, candidates }) => {
    const words = what === 'relations' ? readableRelation : normalizeName;
    const texts = candidates.map(({ text }) => words(text) || text);
    return { scores: [...(await source(task, texts, walked.map(readableRelation)))], areShares: true };
  };
}
