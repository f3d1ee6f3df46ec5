/**
 * One small training step on the active backend, compared with the same step in plain float64: what a backend must get right before
 * it is used. Loading proves little; drivers and kernels can compute wrong numbers in silence.
 */
import { gatherRows, type Tf } from './ops.js';

/** Sizes are such that every tensor is beyond the 1,000 numbers below which the WebGPU backend computes on the host. */
const [tableRows, samples, inputs, hidden, classes] = [48, 96, 24, 48, 24];

/** Large compared with the gradients, so that the length of Adam's step depends on theirs. */
const [learningRate, epsilon] = [0.1, 0.01];

/** Largest difference of a weight or of the loss; TF32, with ten bits, would be beyond it. */
const tolerance = 2e-5;

interface Step {
  loss: number;
  table: Float32Array;
  first: Float32Array;
  bias: Float32Array;
  second: Float32Array;
}

/**
 * The step of a net with one hidden layer: rows of a trained table, tanh(x W + b) V, cross-entropy of its softmax, Adam.
 * @returns what is wrong, such as `weight table differs by 0.01`; undefined where the numbers are right
 */
export async function wrongInTrainingStep(tf: Tf): Promise<string | undefined> {
  const [got, expected] = [await stepOf(tf, initial()), plainStep(initial())];
  const lossDifference = Math.abs(got.loss - expected.loss);
  if (!(lossDifference < tolerance)) return `the loss differs by ${lossDifference.toPrecision(2)}`;
  for (const name of ['table', 'first', 'bias', 'second'] as const) {
    const differences = got[name].map((value, i) => Math.abs(value - expected[name][i]!));
    const most = differences.reduce((a, b) => (b > a || Number.isNaN(b) ? b : a), 0);
    if (!(most < tolerance)) return `the weights "${name}" differ by ${most.toPrecision(2)}`;
  }
  return undefined;
}

/** Numbers that look random and are the same everywhere. */
function initial(): Step {
  const values = (count: number, phase: number) =>
    Float32Array.from({ length: count }, (_, i) => 0.4 * Math.sin(i * i * 0.7 + phase));
  return {
    loss: 0,
    table: values(tableRows * inputs, 1),
    first: values(inputs * hidden, 2),
    bias: values(hidden, 3),
    second: values(hidden * classes, 4),
  };
}

const index = Int32Array.from({ length: samples }, (_, i) => (i * 7) % 41);
const labels = Int32Array.from({ length: samples }, (_, i) => (i * 5) % classes);

async function stepOf(tf: Tf, start: Step): Promise<Step> {
  const shapes = { table: [tableRows, inputs], first: [inputs, hidden], bias: [hidden], second: [hidden, classes] };
  const names = ['table', 'first', 'bias', 'second'] as const;
  const variables = tf.tidy(() => names.map((name) => tf.variable(tf.tensor(start[name], shapes[name]))));
  const [table, first, bias, second] = variables as [never, never, never, never];
  const optimizer = tf.train.adam(learningRate, 0.9, 0.999, epsilon);
  const { value, grads } = tf.variableGrads(() => {
    const rows = tf.tanh(tf.add(tf.matMul(gatherRows(tf, table, index), first), bias));
    const logProbabilities = tf.logSoftmax(tf.matMul(rows, second) as never);
    const chosen = tf.mul(logProbabilities, tf.oneHot(tf.tensor1d(labels, 'int32'), classes));
    return tf.div(tf.neg(tf.sum(chosen)), samples);
  }, variables);
  optimizer.applyGradients(grads as never);
  const [loss, ...weights] = (await Promise.all(
    [value, ...variables].map((tensor) => tensor.data()),
  )) as Float32Array[];
  tf.dispose([value, grads, variables]);
  optimizer.dispose();
  return { loss: loss![0]!, table: weights[0]!, first: weights[1]!, bias: weights[2]!, second: weights[3]! };
}

/** The same by hand: dV = hᵀδ, dh = δVᵀ, da = dh (1 − h²), dW = xᵀda, db = Σ da, rows of the table += da Wᵀ. */
function plainStep({ table, first, bias, second }: Step): Step {
  const grads = [table, first, bias, second].map((weights) => new Float64Array(weights.length));
  const [ofTable, ofFirst, ofBias, ofSecond] = grads as [Float64Array, Float64Array, Float64Array, Float64Array];
  let loss = 0;
  for (let i = 0; i < samples; i++) {
    const from = index[i]! * inputs;
    const activation = Float64Array.from({ length: hidden }, (_, h) => {
      let sum = bias[h]!;
      for (let j = 0; j < inputs; j++) sum += table[from + j]! * first[j * hidden + h]!;
      return Math.tanh(sum);
    });
    const logits = Float64Array.from({ length: classes }, (_, c) =>
      activation.reduce((sum, value, h) => sum + value * second[h * classes + c]!, 0),
    );
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    loss += (Math.log(total) - logits[labels[i]!]!) / samples;
    const delta = logits.map((logit, c) => (Math.exp(logit) / total - (c === labels[i] ? 1 : 0)) / samples);
    for (let h = 0; h < hidden; h++) {
      let grad = 0;
      for (let c = 0; c < classes; c++) {
        ofSecond[h * classes + c]! += activation[h]! * delta[c]!;
        grad += delta[c]! * second[h * classes + c]!;
      }
      grad *= 1 - activation[h]! ** 2;
      ofBias[h]! += grad;
      for (let j = 0; j < inputs; j++) {
        ofFirst[j * hidden + h]! += table[from + j]! * grad;
        ofTable[from + j]! += grad * first[j * hidden + h]!;
      }
    }
  }
  // Adam's first step: its moments, corrected for their start at zero, are the gradient and its square.
  const stepped = (weights: Float32Array, grad: Float64Array) =>
    weights.map((weight, i) => weight - (learningRate * grad[i]!) / (Math.abs(grad[i]!) + epsilon));
  return {
    loss,
    table: stepped(table, ofTable),
    first: stepped(first, ofFirst),
    bias: stepped(bias, ofBias),
    second: stepped(second, ofSecond),
  };
}
