/**
 * From which size on which executor is the faster: milliseconds of a training step of a small net on each, one after the
 * other in every round, medians of the rounds; of all threads of the processor, or by the clock, which alone sees a GPU's. One JSON
 * line a size. What `auto` goes by was read off it
 * (docs/decisions/backends.md).
 *
 *     TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=1 node dist/bench/backend-sizes.js
 *         [--backends simd,wasm] [--widths 16,64] [--batches 1,64] [--rounds 5]
 *         [--clock cpu|wall] [--seconds 0.2]
 *
 * The net: `width` inputs, two hidden layers of `width`, 16 classes; cross-entropy, Adam, the loss read back.
 */
import { parseArgs } from 'node:util';
import { AdamW } from '../src/nn/adamw.js';
import type { Executor } from '../src/nn/executor.js';
import { executorOf, openExecutor, type ExecutorName } from '../src/nn/open-executor.js';
import { type HostTensor, normalValues, Parameters } from '../src/nn/parameters.js';
import { Tape, type Taped } from '../src/nn/tape.js';
import { Rng } from '../src/run/seeds.js';
import { startClock } from './measure.js';

const { values } = parseArgs({
  options: {
    backends: { type: 'string', default: 'simd,wasm' },
    widths: { type: 'string', default: '8,16,32,64,128,256,512' },
    batches: { type: 'string', default: '1,8,64,256,1024' },
    rounds: { type: 'string', default: '5' },
    clock: { type: 'string', default: 'cpu' },
    seconds: { type: 'string', default: '0.2' },
  },
});
const by = values.clock === 'wall' ? 'wall' : 'cpu';
const numbers = (list: string) => list.split(',').map(Number);
const names = values.backends.split(',').map((word) => executorOf(word) as ExecutorName);
const classes = 16;

for (const width of numbers(values.widths)) {
  for (const batch of numbers(values.batches)) {
    const times: Record<string, Record<'step' | 'forward', number[]>> = {};
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const name of names) {
        const { executor } = await openExecutor(name);
        const net = netOf(executor, width, batch);
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

function netOf(executor: Executor, width: number, batch: number) {
  const sizes = [width, width, width, classes];
  const rng = new Rng(7);
  const layers = sizes.slice(1).map((out, i) => {
    const data = normalValues(rng, 1 / Math.sqrt(sizes[i]!), sizes[i]! * out);
    return [`layer.${i}`, { shape: [sizes[i]!, out], data }] as [string, HostTensor];
  });
  const parameters = new Parameters(executor, Object.fromEntries(layers));
  const optimizer = new AdamW(parameters);
  const input = normalValues(rng, 1, batch * width);
  const [training, inferring] = [new Tape(parameters), new Tape(parameters, false)];
  const outputs = (tape: Tape) => {
    tape.begin();
    const logits = layers.reduce<Taped>(
      (x, [name], i) => {
        const next = tape.times(x, name);
        return i < layers.length - 1 ? tape.relu(next) : next;
      },
      tape.constant(input, width),
    );
    const labels = Int32Array.from({ length: batch }, (_, i) => i * classes + (i % classes));
    return tape.outputs([tape.rows(tape.reshape(tape.logSoftmax(logits), 1), labels)]);
  };
  return {
    forward: () => outputs(inferring).read(),
    async step() {
      const logProbs = outputs(training);
      optimizer.zeroGrad();
      logProbs.backward((await logProbs.read()).map(() => -1 / batch));
      return optimizer.step(1e-3);
    },
    dispose: () => {
      optimizer.dispose();
      parameters.dispose();
    },
  };
}

/** Time of one call, after two warm-up calls. */
async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < 2; i++) await work();
  const clock = startClock();
  let count = 0;
  do {
    await work();
    count++;
  } while (clock[by]() < Number(values.seconds));
  return (clock[by]() * 1000) / count;
}
