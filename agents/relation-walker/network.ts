/**
 * The relation walker's network: it reads the question and the relations walked, never the graph or an entity, so the
 * same question is walked alike from any topic. It scores every relation and STOP; what is legal is the mask's business.
 *
 *   x = relu(T · [relu(Q·question + b) ; onehot(first) ; onehot(second) … ; onehot(step)] + b),   scores = O·x + b
 *
 * @source the recipe was measured on MetaQA (docs/decisions/questions.md); orthogonal starts, gain √2 and 0.01
 */
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { QuestionTask } from '../../datasets/question.js';
import type { RelationWalkObservation } from '../../envs/relation-walk/relation-walk-env.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { gatherSum, matMul, matMulConst, relu } from '../../src/tensor/ops.js';
import { orthogonalValues, ParameterSet } from '../../src/tensor/parameters.js';
import type { Actor } from '../actor.js';
import type { QuestionVectors } from './question-vectors.js';
import type { RelationWalkerSettings } from './settings.js';

type Tensor2D = tfTypes.Tensor2D;

export interface RelationNetwork {
  readonly parameters: ParameterSet;
  readonly shape: RelationShape;
  /** float32 [S · (numRelations + 1)]: scores of all actions, illegal ones included; differentiable, owned by the caller. */
  scores(batch: RelationBatch): tfTypes.Tensor1D;
  dispose(): void;
}

/** Builds the network, initialised from `seed`. */
export function createRelationNetwork(
  tf: Tf,
  { questionWidth, width }: Pick<RelationWalkerSettings, 'questionWidth' | 'width'>,
  shape: RelationShape,
  seed: number,
): RelationNetwork {
  const { dim, numRelations, horizon } = shape;
  const numActions = numRelations + 1;
  const parameters = new ParameterSet(tf);
  const layer = (name: string, rows: number, columns: number, gain: number) => {
    const values = orthogonalValues(Rng.named(seed, `relation-walker/${name}`), rows, columns, gain);
    parameters.add(name, [rows, columns], values);
    parameters.add(`${name}.bias`, [columns], new Float32Array(columns));
  };
  layer('question', dim, questionWidth, Math.SQRT2);
  layer('trunk', questionWidth + (horizon - 1) * numActions + horizon, width, Math.SQRT2);
  layer('out', width, numActions, 0.01);
  const weight = (name: string) => parameters.get(name) as unknown as Tensor2D;

  return {
    parameters,
    shape,
    scores: ({ questions, numQuestions, questionOf, slots, steps }) => {
      const trunk = weight('trunk');
      const rows = (begin: number, count: number) => tf.slice(trunk, [begin, 0], [count, width]);
      const input = tf.tensor2d(questions, [numQuestions, dim]);
      const read = relu(tf, tf.add(matMulConst(tf, input, weight('question')), weight('question.bias'))) as Tensor2D;
      // The question's share of the sum is made once a text; a one-hot picks a row.
      const ofQuestion = tf.add(matMul(tf, read, rows(0, questionWidth)), weight('trunk.bias')) as Tensor2D;
      const ofSlots = slots.map((_, slot) => rows(questionWidth + slot * numActions, numActions));
      const ofStep = rows(questionWidth + slots.length * numActions, horizon);
      const sums = gatherSum(tf, [ofQuestion, ...ofSlots, ofStep], [questionOf, ...slots, steps]);
      const scores = tf.add(matMul(tf, relu(tf, sums) as Tensor2D, weight('out')), weight('out.bias'));
      return tf.reshape(scores, [-1]);
    },
    dispose: () => parameters.dispose(),
  };
}

/** Question reader of a trained walker, for any network. */
export interface RelationReader {
  /** Work that is cheaper for many questions at once; `of` does without. */
  prepare(tasks: readonly QuestionTask[], signal?: AbortSignal): Promise<void>;
  /** Gives scores of all actions behind relations walked, fewer than the horizon: float32 [numRelations + 1], STOP last. */
  of(task: QuestionTask, signal?: AbortSignal): Promise<(relations: ArrayLike<number>) => Float32Array>;
}

/** A state of one question's walk. */
export interface RelationRequest {
  task: QuestionTask;
  /** int32 [step]: relations walked. */
  relations: Int32Array;
  /** uint8 [numRelations + 1], 1 = legal; a running walk has at least one. */
  mask: Uint8Array;
}

/** Sizes of what a relation network is made for: width of a relation’s vector, relations of the graph, length of a walk. */
export interface RelationShape {
  dim: number;
  numRelations: number;
  /** Relations a walk may take. */
  horizon: number;
}

/** Legal actions of S states, N in all. */
interface LegalActions {
  /** int32 [S + 1]: legal actions of state `s` are `offsets[s] .. offsets[s + 1] - 1` of `legal`. */
  offsets: Int32Array;
  /** int32 [N]: place of each legal action among the S · (numRelations + 1) scores, ascending. */
  legal: Int32Array;
  /** int32 [S + 1]: multiples of numRelations + 1. */
  scoredOffsets: Int32Array;
}

/** S states over Q distinct questions. Every array is row-major. */
interface RelationBatch extends LegalActions {
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
}

/** Legal actions by the masks of states. */
export function legalActions(requests: readonly RelationRequest[], numRelations: number): LegalActions {
  const numActions = numRelations + 1;
  const offsets = new Int32Array(requests.length + 1);
  const legal: number[] = [];
  requests.forEach(({ mask }, s) => {
    for (let action = 0; action < numActions; action++) if (mask[action] === 1) legal.push(s * numActions + action);
    offsets[s + 1] = legal.length;
  });
  const scoredOffsets = Int32Array.from({ length: requests.length + 1 }, (_, s) => s * numActions);
  return { offsets, legal: Int32Array.from(legal), scoredOffsets };
}

/** @throws WorkbenchError `failure` for a task that `vectors` does not hold */
export function relationBatch(
  requests: readonly RelationRequest[],
  { matrix, dim, rowOf }: QuestionVectors,
  { numRelations, horizon }: RelationShape,
): RelationBatch {
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

  return {
    ...legalActions(requests, numRelations),
    numStates: requests.length,
    numQuestions: places.size,
    questions,
    questionOf,
    slots: Array.from({ length: horizon - 1 }, (_, slot) =>
      Int32Array.from(requests, ({ relations }) => relations[slot] ?? numRelations),
    ),
    steps: Int32Array.from(requests, ({ relations }) => relations.length),
  };
}

/** An actor whose question vectors are set once they are known. */
interface RelationActor extends Actor<RelationWalkObservation, RelationRequest> {
  readonly network: RelationNetwork;
  /** Vectors of all its questions. */
  vectors: QuestionVectors | undefined;
}

/** Common part of actors over relations. */
export function relationSteps(
  numRelations: number,
): Pick<
  Actor<RelationWalkObservation, RelationRequest>,
  'requestOf' | 'stateKey' | 'numScores' | 'scoresReadAtOnce' | 'envAction'
> {
  const numActions = numRelations + 1;
  return {
    requestOf: ({ task, relations, actionMask }) => ({ task, relations, mask: actionMask }),
    stateKey: ({ relations }) => relations.join(),
    numScores: () => numActions,
    // 8,192 states: bounds memory.
    scoresReadAtOnce: 8192 * numActions,
    envAction: ({ mask }, place) => {
      let action = mask.indexOf(1);
      for (let skip = place; skip > 0; skip--) action = mask.indexOf(1, action + 1);
      return action;
    },
  };
}

/** Wraps a network; disposing one disposes the other. */
export function relationActor(network: RelationNetwork, vectors?: QuestionVectors): RelationActor {
  const { parameters, shape } = network;
  const actor: RelationActor = {
    ...relationSteps(shape.numRelations),
    network,
    parameters,
    vectors,
    score: (requests) => {
      const batch = batchOf(requests);
      const { offsets, legal, scoredOffsets } = batch;
      return { offsets, masked: { scoredOffsets, legal }, logits: () => network.scores(batch) };
    },
    weightsChanged: () => {},
    dispose: () => network.dispose(),
  };
  const batchOf = (requests: readonly RelationRequest[]) => {
    if (actor.vectors) return relationBatch(requests, actor.vectors, shape);
    throw new WorkbenchError('failure', 'expected question vectors, got none, at relationActor');
  };
  return actor;
}
