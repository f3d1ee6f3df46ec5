/**
 * Predictor of the number of relations in a question, from its text: a linear softmax over question vectors, trained on
 * the chains of train questions. For agents that need the number where the data set does not give it.
 * @source Self-VEQA predicts the hop count before it proposes chains; theirs is a fine-tuned transformer
 */
import type { QuestionSample, QuestionTask } from '../../../datasets/question.js';
import { madeFromSamples } from '../../../datasets/sample-source.js';
import type { EncodedTexts, StateEncoder } from '../../../src/encoder/state-encoder.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { AdamW } from '../../../src/nn/adamw.js';
import { softmax } from '../../../src/nn/categorical.js';
import { firstNotFinite } from '../../../src/nn/diverged.js';
import { SimdParameters, SimdTape } from '../../../src/nn/simd/tape.js';
import { encodeQuestions, vectorScale } from '../../relation-walker/question-vectors.js';

/** Full-batch steps of Adam from zero weights on a convex loss: nothing is drawn, so nothing needs a seed. */
const steps = 150;
const learningRate = 0.05;
const weightDecay = 0.01;

/** Longest question that is read, in tokens. */
const settings = { keepName: false, maxTokens: 128 };

/**
 * Trains on the templates of questions whose chain is known, encoded by `encoder`.
 * @param train the only questions it may learn from
 * @throws WorkbenchError `data` where no chain is known
 */
export async function hopPredictor(
  encoder: StateEncoder,
  train: readonly QuestionSample[],
): Promise<(tasks: readonly QuestionTask[], signal?: AbortSignal) => Promise<number[]>> {
  const known = train.filter(({ gold }) => gold.chains.length > 0);
  known.forEach(madeFromSamples('training', 'hop predictor, with the scale of its vectors'));
  const tasks = known.map(({ task }) => task);
  const hops = known.map(({ gold }) => gold.chains[0]!.length);
  const classifier = await fitHops(await encodeQuestions(encoder, tasks, { settings }), hops);
  return async (asked, signal) => {
    const { matrix, rows, dim } = await encodeQuestions(encoder, asked, { settings, signal });
    return Array.from(rows, (row) => {
      const shares = classifier.shares(matrix.subarray(row * dim, (row + 1) * dim));
      return 1 + shares.indexOf(Math.max(...shares));
    });
  };
}

/**
 * @param encoded vectors of questions
 * @param hops of each, at least 1
 * @returns the longest chain it was trained on, and the share of each number of hops, 1 first, float64 [maxHops]
 * @throws WorkbenchError `data` without questions, or for a vector that is not finite
 */
export async function fitHops(encoded: EncodedTexts, hops: readonly number[]) {
  if (hops.length === 0) {
    throw new WorkbenchError(
      'data',
      'expected train questions with chains to learn the number of hops from, got none',
      { hint: 'Give the number of hops with the questions, or ask the agent to try all.' },
    );
  }
  const { dim } = encoded;
  // Nothing else can make the steps diverge: their rate is fixed and their loss convex.
  const first = firstNotFinite('question vectors', encoded.matrix);
  if (first) {
    const place = `number ${first.index % dim} of text ${Math.floor(first.index / dim)} of the hop predictor`;
    throw new WorkbenchError('data', `expected finite ${first.tensor}, got ${first.value}, at ${place}`, {
      hint: 'Encode the questions again: `kgwalk cache info` says where vectors are kept.',
    });
  }
  const { mean, deviation } = vectorScale(encoded);
  const maxHops = hops.reduce((most, count) => Math.max(most, count));
  const { rows, targets } = distinctRows(encoded, hops, maxHops);
  const inputs = new Float32Array(rows.length * dim);
  rows.forEach((row, i) => {
    for (let j = 0; j < dim; j++) inputs[i * dim + j] = (encoded.matrix[row * dim + j]! - mean[j]!) / deviation[j]!;
  });

  const parameters = new SimdParameters({
    weights: { shape: [dim, maxHops], data: new Float32Array(dim * maxHops) },
    bias: { shape: [maxHops], data: new Float32Array(maxHops) },
  });
  const optimizer = new AdamW(parameters, { weightDecay });
  const tape = new SimdTape(parameters);
  for (let step = 0; step < steps; step++) {
    tape.begin();
    const outputs = tape.outputs([tape.dense(tape.constant(inputs, dim), 'weights', maxHops, 'bias')]);
    optimizer.zeroGrad();
    outputs.backward(crossEntropyGrad(outputs.values, targets, maxHops));
    await optimizer.step(learningRate);
  }
  const { weights, bias } = await parameters.export();
  optimizer.dispose();
  parameters.dispose();

  return {
    maxHops,
    shares(vector: Float32Array) {
      const logits = Float64Array.from(bias!.data);
      for (let j = 0; j < dim; j++) {
        const value = (vector[j]! - mean[j]!) / deviation[j]!;
        for (let k = 0; k < maxHops; k++) logits[k]! += value * weights!.data[j * maxHops + k]!;
      }
      return softmax(logits);
    },
  };
}

/** Each text once, with the share of all questions that ask it with each number of hops: float64 [texts, maxHops]. */
function distinctRows({ rows }: EncodedTexts, hops: readonly number[], maxHops: number) {
  const places = new Map<number, number>();
  for (const row of rows) if (!places.has(row)) places.set(row, places.size);
  const targets = new Float64Array(places.size * maxHops);
  rows.forEach((row, i) => (targets[places.get(row)! * maxHops + hops[i]! - 1]! += 1 / rows.length));
  return { rows: [...places.keys()], targets };
}

/**
 * ∂/∂logits of −Σ targets · log softmax(logits), row by row.
 * @param logits float32 [rows · width]
 * @param targets float64 [rows · width], at least 0
 */
export function crossEntropyGrad(logits: Float32Array, targets: Float64Array, width: number): Float32Array {
  const grad = new Float32Array(logits.length);
  for (let begin = 0; begin < logits.length; begin += width) {
    const shares = softmax(logits.subarray(begin, begin + width));
    const target = targets.subarray(begin, begin + width);
    const weight = target.reduce((sum, value) => sum + value, 0);
    for (let k = 0; k < width; k++) grad[begin + k] = weight * shares[k]! - target[k]!;
  }
  return grad;
}
