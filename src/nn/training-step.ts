/**
 * One small training step, compared with the same on SIMD kernels: what an executor must get right before it is used. Loading proves
 * little; drivers and kernels can compute wrong numbers in silence.
 */
import { AdamW } from './adamw.js';
import { Diverged } from './diverged.js';
import type { Executor } from './executor.js';
import { Parameters } from './parameters.js';
import { SimdExecutor } from './simd/executor.js';
import { Tape } from './tape.js';

const [tableRows, samples, inputs, hidden, classes] = [48, 96, 24, 48, 24];

/** Large compared with the gradients, so that the length of AdamW's step depends on theirs. */
const [learningRate, epsilon] = [0.1, 0.01];

/** Largest difference of a weight or of the loss; TF32, with ten bits, would be beyond it. */
const tolerance = 2e-5;

/** @returns what is wrong, such as `the weights "table" differ by 0.01`; undefined where the numbers are right */
export async function wrongInTrainingStep(executor: Executor): Promise<string | undefined> {
  const got = await stepOf(executor).catch((error: unknown) => {
    if (error instanceof Diverged) return error;
    throw error;
  });
  if (got instanceof Diverged) return got.message;
  const expected = await stepOf(new SimdExecutor());
  for (const [name, values] of Object.entries(expected)) {
    const differences = values.map((value, i) => Math.abs(value - got[name]![i]!));
    const most = differences.reduce((a, b) => (b > a || Number.isNaN(b) ? b : a), 0);
    const what = name === 'loss' ? 'the loss differs' : `the weights "${name}" differ`;
    if (!(most < tolerance)) return `${what} by ${most.toPrecision(2)}`;
  }
  return undefined;
}

/** Loss and weights after a step of a network with one hidden layer: rows of a trained table, tanh(x W + b) V + c, cross-entropy of its softmax. */
async function stepOf(executor: Executor): Promise<Record<string, Float32Array>> {
  // Numbers that look random and are the same everywhere.
  const start = (rows: number, width: number, phase: number) => ({
    shape: [rows, width],
    data: Float32Array.from({ length: rows * width }, (_, i) => 0.4 * Math.sin(i * i * 0.7 + phase)),
  });
  const parameters = new Parameters(executor, {
    table: start(tableRows, inputs, 1),
    first: start(inputs, hidden, 2),
    'first.bias': start(1, hidden, 3),
    second: start(hidden, classes, 4),
    'second.bias': start(1, classes, 5),
  });
  const tape = new Tape(parameters);
  const optimizer = new AdamW(parameters, { epsilon });
  const index = Int32Array.from({ length: samples }, (_, i) => (i * 7) % 41);
  let loss = 0;
  tape.begin();
  const rows = tape.rows(tape.parameter('table'), index);
  const outputs = tape.outputs([tape.logSoftmax(tape.layer(tape.layer(rows, 'first', 'tanh'), 'second'))]);
  const values = await outputs.read();
  const grad = new Float32Array(values.length);
  for (let i = 0; i < samples; i++) {
    const label = i * classes + ((i * 5) % classes);
    loss -= values[label]! / samples;
    grad[label] = -1 / samples;
  }
  optimizer.zeroGrad();
  outputs.backward(grad);
  await optimizer.step(learningRate);
  const weights = await parameters.export();
  tape.begin();
  optimizer.dispose();
  parameters.dispose();
  const data = Object.entries(weights).map(([name, tensor]) => [name, tensor.data] as const);
  return { loss: Float32Array.of(loss), ...Object.fromEntries(data) };
}
