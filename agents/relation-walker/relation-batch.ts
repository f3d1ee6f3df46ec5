/** Turns states of relation walks into the flat arrays that the network reads. */
import type { QuestionTask } from '../../datasets/question.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { QuestionVectors } from './question-vectors.js';

/** A state of one question's walk. */
export interface RelationRequest {
  task: QuestionTask;
  /** int32 [step]: relations walked. */
  relations: Int32Array;
  /** uint8 [numRelations + 1], 1 = legal; a running walk has at least one. */
  mask: Uint8Array;
}

/** Sizes that network and batches share. */
export interface RelationShape {
  /** Dimension of question vectors. */
  dim: number;
  numRelations: number;
  /** Relations a walk may take. */
  horizon: number;
}

/** S states over Q distinct questions, with N legal actions in all. Every array is row-major. */
export interface RelationBatch {
  numStates: number;
  numQuestions: number;
  /** float32 [Q, dim]: each text once, however many states ask it. */
  questions: Float32Array;
  /** int32 [S]: row of `questions`. */
  questionOf: Int32Array;
  /** `horizon − 1` times int32 [S]: the first relation, the second …; `numRelations` where there is none yet. */
  slots: Int32Array[];
  /** int32 [S]: relations walked, 0 … horizon − 1. */
  steps: Int32Array;
  /** int32 [S + 1]: legal actions of state `s` are `offsets[s] .. offsets[s + 1] - 1` of `legal`. */
  offsets: Int32Array;
  /** int32 [N]: place of each legal action among the S · (numRelations + 1) scores, ascending. */
  legal: Int32Array;
  /** int32 [S + 1]: multiples of numRelations + 1. */
  scoredOffsets: Int32Array;
}

/** @throws WorkbenchError `failure` for a task that `vectors` does not hold */
export function relationBatch(
  requests: readonly RelationRequest[],
  { matrix, dim, rowOf }: QuestionVectors,
  { numRelations, horizon }: RelationShape,
): RelationBatch {
  const numStates = requests.length;
  const numActions = numRelations + 1;
  const places = new Map<number, number>();
  const questionOf = Int32Array.from(requests, ({ task }) => {
    const row = rowOf.get(task.id);
    if (row === undefined) {
      throw new WorkbenchError('failure', `expected a vector of question ${task.id}, got none, at relationBatch`);
    }
    if (!places.has(row)) places.set(row, places.size);
    return places.get(row)!;
  });
  const questions = new Float32Array(places.size * dim);
  for (const [row, place] of places) questions.set(matrix.subarray(row * dim, (row + 1) * dim), place * dim);

  const offsets = new Int32Array(numStates + 1);
  const legal: number[] = [];
  requests.forEach(({ mask }, s) => {
    for (let action = 0; action < numActions; action++) if (mask[action] === 1) legal.push(s * numActions + action);
    offsets[s + 1] = legal.length;
  });
  return {
    numStates,
    numQuestions: places.size,
    questions,
    questionOf,
    slots: Array.from({ length: horizon - 1 }, (_, slot) =>
      Int32Array.from(requests, ({ relations }) => relations[slot] ?? numRelations),
    ),
    steps: Int32Array.from(requests, ({ relations }) => relations.length),
    offsets,
    legal: Int32Array.from(legal),
    scoredOffsets: Int32Array.from({ length: numStates + 1 }, (_, s) => s * numActions),
  };
}
