/** The relation walker's network on plain arrays: one question at a time without tfjs, well below a millisecond. */
import { WorkbenchError } from '../../src/run/errors.js';
import type { StoredTensors } from '../../src/tensor/parameters.js';
import type { RelationShape } from './relation-batch.js';

/** A snapshot of weights; later updates do not reach it. */
export interface HostNetwork {
  readonly shape: RelationShape;
  /** What is computed once a question. @param vector float32 [dim], scaled @returns float64 [width] */
  read(vector: Float32Array): Float64Array;
  /**
   * Scores of all actions, equal to the tfjs network's to 1e-5.
   * @param question from `read`
   * @param relations walked so far, fewer than the horizon
   * @returns float32 [numRelations + 1], new
   */
  scores(question: Float64Array, relations: ArrayLike<number>): Float32Array;
}

/**
 * @param tensors as `ParameterSet.export` or a checkpoint gives them
 * @throws WorkbenchError `data` where a tensor is missing or does not fit the shape
 */
export function hostNetwork(tensors: StoredTensors, shape: RelationShape): HostNetwork {
  const { dim, numRelations, horizon } = shape;
  const numActions = numRelations + 1;
  const width = tensors['trunk']?.shape[1] ?? 0;
  const questionWidth = tensors['question']?.shape[1] ?? 0;
  const data = (name: string, ...expected: number[]) => {
    const tensor = tensors[name];
    if (tensor?.data instanceof Float32Array && tensor.shape.join() === expected.join()) return tensor.data;
    const got = tensor ? `[${tensor.shape.join()}]` : 'none';
    throw new WorkbenchError('data', `expected float32 ${name} of shape [${expected.join()}], got ${got}`, {
      hint: 'The weights belong to another graph, encoder or walker; use the configuration they were trained with.',
    });
  };
  const question = data('question', dim, questionWidth);
  const questionBias = data('question.bias', questionWidth);
  const trunk = data('trunk', questionWidth + (horizon - 1) * numActions + horizon, width);
  const trunkBias = data('trunk.bias', width);
  const out = data('out', width, numActions);
  const outBias = data('out.bias', numActions);

  return {
    shape,
    read(vector) {
      const hidden = Float64Array.from(questionBias);
      for (let i = 0; i < dim; i++) addRow(hidden, question, i, vector[i]!);
      const sum = Float64Array.from(trunkBias);
      for (let i = 0; i < questionWidth; i++) if (hidden[i]! > 0) addRow(sum, trunk, i, hidden[i]!);
      return sum;
    },
    scores(read, relations) {
      const sum = read.slice();
      for (let slot = 0; slot < horizon - 1; slot++) {
        addRow(sum, trunk, questionWidth + slot * numActions + (relations[slot] ?? numRelations), 1);
      }
      addRow(sum, trunk, questionWidth + (horizon - 1) * numActions + relations.length, 1);
      const scores = Float64Array.from(outBias);
      for (let i = 0; i < width; i++) if (sum[i]! > 0) addRow(scores, out, i, sum[i]!);
      return Float32Array.from(scores);
    },
  };
}

/** into += factor · row of a row-major matrix whose rows are as long as `into`. */
function addRow(into: Float64Array, matrix: Float32Array, row: number, factor: number): void {
  const begin = row * into.length;
  for (let j = 0; j < into.length; j++) into[j]! += factor * matrix[begin + j]!;
}
