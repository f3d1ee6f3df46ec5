/** Who scores what Think-on-Graph may follow: the language model, word overlap or sentence vectors. */
import { dot, type StateEncoder } from '../../../src/encoder/state-encoder.js';
import { normalizeName } from '../../../src/kg/name-index.js';
import type { Candidate, ContextBlock, DecisionClient } from '../../../src/llm/decision.js';
import type { QuestionTask } from '../../../datasets/question.js';
import { entityExamples, entityTask, relationExamples, relationTask } from './prompts.js';

interface ScoreQuery {
  task: QuestionTask;
  what: 'relations' | 'entities';
  subjects: readonly number[];
  context: readonly ContextBlock[];
  candidates: readonly Candidate[];
}

/** One weight a candidate, in order, 0 or more. Undefined: the model's reply could not be read. */
export type Scorer = (query: ScoreQuery, client: DecisionClient) => Promise<readonly number[] | undefined>;

/** The language model scores each candidate from 0 to 10: one call a list. */
export const modelScorer: Scorer = async ({ task, what, subjects, context, candidates }, client) => {
  const relations = what === 'relations';
  const { reply } = await client.decide({
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
  return reply?.scores;
};

/**
 * Okapi BM25 of each candidate as a document, with the question as the query.
 * @source Robertson and Zaragoza 2009, k1 = 1.5, b = 0.75
 */
export const wordScorer: Scorer = ({ task, candidates }) => {
  const documents = candidates.map(({ text }) => words(text));
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const query = [...new Set(words(task.question))];
  const scores = documents.map((document) => {
    let score = 0;
    for (const word of query) {
      const frequency = document.filter((other) => other === word).length;
      if (frequency === 0) continue;
      const holders = documents.filter((other) => other.includes(word)).length;
      const idf = Math.log(1 + (documents.length - holders + 0.5) / (holders + 0.5));
      score += (idf * frequency * 2.5) / (frequency + 1.5 * (0.25 + (0.75 * document.length) / average));
    }
    return score;
  });
  return Promise.resolve(scores);
};

/** Cosine of the question's vector and each candidate's; negative ones count as 0. */
export function vectorScorer(encoder: StateEncoder): Scorer {
  return async ({ task, candidates }) => {
    const texts = candidates.map(({ text }) => words(text).join(' '));
    const { matrix, rows, dim } = await encoder.encode([task.question, ...texts]);
    const row = (i: number) => matrix.subarray(rows[i]! * dim, (rows[i]! + 1) * dim);
    return texts.map((_, i) => Math.max(0, cosine(row(0), row(i + 1))));
  };
}

const words = (text: string) => normalizeName(text).split(' ');

function cosine(a: Float32Array, b: Float32Array): number {
  const squares = dot(a, a) * dot(b, b);
  return squares > 0 ? dot(a, b) / Math.sqrt(squares) : 0;
}
