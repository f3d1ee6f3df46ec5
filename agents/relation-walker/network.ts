/**
 * The relation walker's network: it reads the question and the relations walked, never the graph or an entity, so the
 * same question is walked alike from any topic. It scores every relation and STOP; what is legal is the mask's business.
 *
 *   x = relu(T · [relu(Q·question + b) ; onehot(first) ; onehot(second) … ; onehot(step)] + b),   scores = O·x + b
 *
 * @source the recipe was measured on MetaQA (docs/decisions/questions.md); orthogonal starts, gain √2 and 0.01
 */
import type * as tfTypes from '@tensorflow/tfjs';
import { Rng } from '../../src/run/seeds.js';
import type { Tf } from '../../src/tensor/backend.js';
import { gatherSum, matMul, matMulConst, relu } from '../../src/tensor/ops.js';
import { orthogonalValues, ParameterSet } from '../../src/tensor/parameters.js';
import type { RelationBatch, RelationShape } from './relation-batch.js';
import type { RelationWalkerSettings } from './settings.js';

type Tensor2D = tfTypes.Tensor2D;

/** A network that scores every relation and STOP for each state of a batch. */
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
