/** Relevance of short texts to a question, by word overlap or by sentence vectors. */
import { maskedQuestion, type QuestionTask } from '../../../datasets/question.js';
import { dot, type TextVectors } from '../../../src/encoder/state-encoder.js';
import { normalizeName } from '../../../src/kg/name-index.js';
import { softmax } from '../../../src/nn/categorical.js';

/**
 * @param texts at least one, as a sentence would hold them
 * @param walked texts of the relations walked so far, in order
 * @returns float64 [texts.length], sums to 1
 */
export type TextSource = (
  task: QuestionTask,
  texts: readonly string[],
  walked: readonly string[],
) => Promise<Float64Array>;

/**
 * Of the softmax over cosines.
 * @source least surprise at the right relation on MetaQA 2- and 3-hop dev-train with all-MiniLM-L6-v2, n = 407 (docs/decisions/likelihood.md)
 */
const cosineTemperature = 0.2;
/** Temperature of the softmax over BM25, where one rare word makes about 1. @source the same choices */
const overlapTemperature = 1;
/** Penalty for similarity to the last relation: that part of the question has been answered. */
const walkedWeight = 0.5;

/**
 * Okapi BM25 of each text as a document, with the question without its topics as the query.
 * @source Robertson and Zaragoza 2009, k1 = 1.5, b = 0.75
 */
export const overlapSource: TextSource = (task, texts) => {
  const documents = texts.map(words);
  const average = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  const query = [...new Set(words(maskedQuestion(task).replaceAll('[E]', ' ')))];
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
  return Promise.resolve(softmax(scores, overlapTemperature));
};

/**
 * Cosine of each text with the question whose topics are masked (a name draws a vector to itself), less half of its likeness to
 * the relation walked last.
 */
export function vectorSource(vectors: TextVectors): TextSource {
  return async (task, texts, walked) => {
    const last = walked.slice(-1);
    const [question, ...rows] = await vectors.of([maskedQuestion(task), ...last, ...texts]);
    const [before] = rows.splice(0, last.length);
    const scores = rows.map((row) => dot(question!, row) - (before ? walkedWeight * dot(before, row) : 0));
    return softmax(scores, cosineTemperature);
  };
}

const words = (text: string) => normalizeName(text).split(' ').filter(Boolean);
