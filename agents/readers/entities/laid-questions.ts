/** Subgraphs of several questions as one, and batches in parts that memory holds. */
import {
  excludedTopics,
  maskedQuestion,
  type QuestionGold,
  type QuestionSample,
  type QuestionTask,
} from '../../../datasets/question.js';
import type { Subgraph, Subgraphs } from '../../../src/kg/subgraphs.js';

/** Rows are entities, question behind question. */
export interface LaidQuestions {
  /** int32 [questions + 1]: rows of question `q` are `bounds[q] .. bounds[q + 1] - 1`. */
  bounds: Int32Array;
  /** int32 [rows]: entity ids. */
  entities: Int32Array;
  /** float32 [rows]: the topics, summing to 1 a question; zeros for a question without one. */
  initialWeights: Float32Array;
  /** uint8 [rows]: 1 for what may be an answer. */
  candidates: Uint8Array;
}

export type Placed = Pick<QuestionTask, 'topics' | 'topicsReturn'>;

/** Lays subgraphs one behind the other; all may be answers but excluded topics. */
export function layQuestions(tasks: readonly Placed[], cut: readonly Subgraph[]): LaidQuestions {
  const bounds = new Int32Array(tasks.length + 1);
  cut.forEach(({ entities }, q) => (bounds[q + 1] = bounds[q]! + entities.length));
  const rows = bounds.at(-1)!;
  const laid = {
    bounds,
    entities: new Int32Array(rows),
    initialWeights: new Float32Array(rows),
    candidates: new Uint8Array(rows),
  };
  cut.forEach(({ entities }, q) => {
    const first = bounds[q]!;
    laid.entities.set(entities, first);
    const topics = new Set(topicsOf(tasks[q]!));
    const excluded = new Set(excludedTopics(tasks[q]!));
    entities.forEach((entity, index) => {
      if (topics.has(entity)) laid.initialWeights[first + index] = 1 / topics.size;
      laid.candidates[first + index] = Number(!excluded.has(entity));
    });
  });
  return laid;
}

export function topicsOf({ topics }: Pick<QuestionTask, 'topics'>): number[] {
  return [...new Set(topics.map(({ entity }) => entity))].filter((entity) => entity >= 0);
}

/** int32 [rows]: question of each row. */
export function questionOfRows({ bounds }: Pick<LaidQuestions, 'bounds'>): Int32Array {
  const questions = new Int32Array(bounds.at(-1)!);
  for (let q = 0; q + 1 < bounds.length; q++) questions.fill(q, bounds[q], bounds[q + 1]);
  return questions;
}

/** Rows of a question's answers: those that its subgraph holds. */
export function answerRows(
  { answers }: Pick<QuestionGold, 'answers'>,
  { bounds, entities }: Pick<LaidQuestions, 'bounds' | 'entities'>,
  question: number,
): number[] {
  const wanted = new Set(answers.map(({ entity }) => entity));
  const rows: number[] = [];
  for (let row = bounds[question]!; row < bounds[question + 1]!; row++) if (wanted.has(entities[row]!)) rows.push(row);
  return rows;
}

export type BatchPart = { samples: QuestionSample[]; cut: Subgraph[] };

/**
 * A batch in parts of at most `rowsAtOnce` entities, one question at least, in an order that depends on the batch alone: by text, so that
 * texts share a part, then by id.
 */
export function* partsOf(
  { around }: Pick<Subgraphs, 'around'>,
  batch: readonly QuestionSample[],
  rowsAtOnce: number,
): Generator<BatchPart> {
  const key = ({ task }: QuestionSample) => `${maskedQuestion(task)}\u0000${task.id}`;
  const ordered = batch.map((sample) => ({ key: key(sample), sample }));
  ordered.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  let part: BatchPart = { samples: [], cut: [] };
  let rows = 0;
  for (const { sample } of ordered) {
    const subgraph = around(topicsOf(sample.task));
    const { length } = subgraph.entities;
    if (part.samples.length > 0 && rows + length > rowsAtOnce) {
      yield part;
      part = { samples: [], cut: [] };
      rows = 0;
    }
    part.samples.push(sample);
    part.cut.push(subgraph);
    rows += length;
  }
  if (part.samples.length > 0) yield part;
}
