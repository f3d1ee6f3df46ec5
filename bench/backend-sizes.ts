/**
 * From which size on which tensor backend is the faster: milliseconds of a training step of a small net on each, one after the
 * other in every round, medians of the rounds; of all threads of the processor, or by the clock, which alone sees a GPU's. One JSON
 * line a size. What `auto` goes by was read off it
 * (docs/decisions/backends.md).
 *
 *     TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=1 node dist/bench/backend-sizes.js
 *         [--backends tensorflow,wasm,cpu] [--widths 16,64] [--batches 1,64] [--rounds 5]
 *         [--clock cpu|wall] [--seconds 0.2]
 *
 * The net: `width` inputs, two hidden layers of `width`, 16 classes; cross-entropy, Adam, the loss read back.
 */
import { parseArgs } from 'node:util';
import type * as tfTypes from '@tensorflow/tfjs-core';
import { backendOf, openBackend, type BackendName, type Tf } from '../src/tensor/backend.js';
import { matMul } from '../src/tensor/ops.js';
import { startClock } from './measure.js';

const { values } = parseArgs({
  options: {
    backends: { type: 'string', default: 'tensorflow,wasm,cpu' },
    widths: { type: 'string', default: '8,16,32,64,128,256,512' },
    batches: { type: 'string', default: '1,8,64,256,1024' },
    rounds: { type: 'string', default: '5' },
    clock: { type: 'string', default: 'cpu' },
    seconds: { type: 'string', default: '0.2' },
  },
});
const by = values.clock === 'wall' ? 'wall' : 'cpu';
const numbers = (list: string) => list.split(',').map(Number);
const names = values.backends.split(',').map((word) => backendOf(word) as BackendName);
const classes = 16;

for (const width of numbers(values.widths)) {
  for (const batch of numbers(values.batches)) {
    const times: Record<string, Record<'step' | 'forward', number[]>> = {};
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const name of names) {
        const { tf } = await openBackend(name);
        const net = netOf(tf, width, batch);
        const of = (times[name] ??= { step: [], forward: [] });
        of.forward.push(await milliseconds(net.forward));
        of.step.push(await milliseconds(net.step));
        net.dispose();
      }
    }
    const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1]!;
    const shown = (of: 'step' | 'forward') =>
      Object.fromEntries(names.map((name) => [name, Number(median(times[name]![of]).toPrecision(3))]));
    const [step, forward] = [shown('step'), shown('forward')];
    console.log(JSON.stringify({ width, batch, [`step_${by}_ms`]: step, [`forward_${by}_ms`]: forward }));
  }
}

function netOf(tf: Tf, width: number, batch: number) {
  const sizes = [width, width, width, classes];
  const weights = sizes
    .slice(1)
    .map((out, i) => tf.variable(tf.randomNormal([sizes[i]!, out], 0, 1 / Math.sqrt(sizes[i]!), 'float32', 7 + i)));
  const input = tf.randomNormal([batch, width], 0, 1, 'float32', 1) as tfTypes.Tensor2D;
  const labels = tf.tidy(() =>
    tf.oneHot(
      tf.tensor1d(
        Array.from({ length: batch }, (_, i) => i % classes),
        'int32',
      ),
      classes,
    ),
  );
  const optimizer = tf.train.adam(1e-3);
  const logits = () =>
    weights.reduce((state, weight, i) => {
      const next = matMul(tf, state, weight as unknown as tfTypes.Tensor2D);
      return i < weights.length - 1 ? tf.relu(next) : next;
    }, input);
  const loss = () => tf.neg(tf.mean(tf.sum(tf.mul(tf.logSoftmax(logits()), labels), 1))) as tfTypes.Scalar;
  const read = async (tensor: tfTypes.Tensor) => {
    await tensor.data();
    tensor.dispose();
  };
  return {
    forward: () => read(tf.tidy(logits)),
    step: () => read(optimizer.minimize(loss, true, weights as never)!),
    dispose: () => {
      tf.dispose([weights, input, labels]);
      optimizer.dispose();
    },
  };
}

/** Time of one call, after two warm-up calls. */
async function milliseconds(work: () => Promise<void>): Promise<number> {
  for (let i = 0; i < 2; i++) await work();
  const clock = startClock();
  let count = 0;
  do {
    await work();
    count++;
  } while (clock[by]() < Number(values.seconds));
  return (clock[by]() * 1000) / count;
}
