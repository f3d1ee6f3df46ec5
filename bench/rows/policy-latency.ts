/**
 * One forward pass of a policy: actor 576 → 400 → 400 → 400, tanh after each and no bias, dotted with [batch, 50, 400]
 * candidates, and log-probabilities of the legal ones on the host. Arrays are in memory before, eight batches taking turns.
 *
 *     node dist/bench/rows/policy-latency.js [--backends simd,wasm,tensorflow] [--seconds 2]
 *
 * An executor that does not open here is left out. Seconds of wall time for each batch size.
 */
import { parseArgs } from 'node:util';
import { segmentLogSoftmax } from '../../src/nn/categorical.js';
import { executorOf, openExecutor, probeExecutor } from '../../src/nn/open-executor.js';
import { type HostTensor, Parameters } from '../../src/nn/parameters.js';
import { Tape, type Taped } from '../../src/nn/tape.js';
import { Rng } from '../../src/run/seeds.js';
import { emitLatency, startClock } from '../measure.js';

const { values } = parseArgs({
  options: {
    backends: { type: 'string', default: 'simd,wasm,tensorflow' },
    seconds: { type: 'string', default: '2' },
    threads: { type: 'string', default: '1' },
  },
});
const [stateDim, hidden, actions] = [576, 400, 50];
const [sizes, turns] = [[1, 8, 64], 8];
const rng = Rng.named(0, 'bench/policy');
const normal = (length: number, scale: number) => Float32Array.from({ length }, () => rng.normal() * scale);
const weights = [stateDim, hidden, hidden].map((rows, i) => {
  return [`layer.${i}`, { shape: [rows, hidden], data: normal(rows * hidden, 1 / Math.sqrt(rows)) }] as [
    string,
    HostTensor,
  ];
});

/** Float32 [size, 576] and [size, 50, 400], and how many of the 50 are legal. */
interface Minibatch {
  states: Float32Array;
  candidates: Float32Array;
  /** int32 [size + 1]: of the legal ones of all states, one after the other. */
  offsets: Int32Array;
}

/** Prepares a batch; what it returns runs a forward pass. */
type Policy = (batch: Minibatch, size: number) => () => Float32Array | Promise<Float32Array>;

for (const backend of values.backends.split(',')) {
  const policy = await policyOn(backend);
  if (policy) for (const size of sizes) await measure(backend, policy, size);
}

async function measure(variant: string, policy: Policy, size: number): Promise<void> {
  const forwards = Array.from({ length: turns }, () => policy(drawBatch(size), size));
  for (const forward of forwards) await forward();
  const times: number[] = [];
  const clock = startClock();
  while (clock.wall() < Number(values.seconds)) {
    const begin = performance.now();
    await forwards[times.length % turns]!();
    times.push(performance.now() - begin);
  }
  const spent = { wall: clock.wall(), cpu: clock.cpu() };
  const settings = { state: stateDim, hidden, actions, batch: size };
  emitLatency({ variant, task: 'policy-latency', settings, count: times.length, unit: 'ms/forward', spent }, times);
}

function drawBatch(size: number): Minibatch {
  const offsets = new Int32Array(size + 1);
  for (let s = 0; s < size; s++) offsets[s + 1] = offsets[s]! + 1 + rng.integer(actions);
  const candidates = normal(size * actions * hidden, 1 / Math.sqrt(hidden));
  return { states: normal(size * stateDim, 1), candidates, offsets };
}

/** Scores the legal candidates alone, as ranking by the plain head does. */
async function policyOn(word: string): Promise<Policy | undefined> {
  const name = executorOf(word);
  if (name !== 'auto' && !(await probeExecutor(name)).found) return undefined;
  const { executor } = await openExecutor(name);
  const tape = new Tape(new Parameters(executor, Object.fromEntries(weights)), false);
  return ({ states, candidates, offsets }, size) => {
    const held = { rows: size * actions, width: hidden, values: executor.hold(candidates) };
    const left = new Int32Array(offsets.at(-1)!);
    const right = new Int32Array(offsets.at(-1)!);
    for (let s = 0; s < size; s++) {
      for (let i = offsets[s]!; i < offsets[s + 1]!; i++) [left[i], right[i]] = [s, s * actions + i - offsets[s]!];
    }
    return async () => {
      tape.begin();
      const outputs = weights.reduce<Taped>(
        (x, [layer]) => tape.tanh(tape.times(x, layer)),
        tape.constant(states, stateDim),
      );
      const logits = await tape.outputs([tape.dots(outputs, left, held, right)]).read();
      return segmentLogSoftmax(logits, offsets);
    };
  };
}
