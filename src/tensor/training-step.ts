/**
 * One small training step on the active backend, compared with the same step on the plain one: what a backend must get right before
 * it is used. Loading proves little; drivers and kernels can compute wrong numbers in silence.
 */
import { gatherRows, type Tf } from './ops.js';

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
  const active = tf.getBackend();
  const got = await stepOf(tf, initial());
  await tf.setBackend('cpu');
  const expected = await stepOf(tf, initial());
  await tf.setBackend(active);
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
