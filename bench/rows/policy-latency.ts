/**
 * One forward pass of a policy: actor 576 → 400 → 400 → 400, tanh after each and no bias, dotted with [batch, 50, 400]
 * candidates, and log-probabilities of the legal ones on the host. Arrays are in memory before, eight batches taking turns.
 *
 *     node dist/bench/rows/policy-latency.js [--backends host,wasm,tensorflow] [--seconds 2]
 *
 * `host` is what ranks walks of the plain head; a backend that does not open here is left out. Seconds of wall time for each batch size.
 */
import { parseArgs } from 'node:util';
import type { Tensor } from '@tensorflow/tfjs-core';
import { Rng } from '../../src/run/seeds.js';
import { Arena } from '../../src/simd/arena.js';
import { DenseStack, type DenseLayer } from '../../src/simd/dense-stack.js';
import { openKernels } from '../../src/simd/kernels.js';
import { backendOf, openBackend, probeBackend } from '../../src/tensor/backend.js';
import { segmentLogSoftmax } from '../../src/tensor/categorical.js';
import { hostDots } from '../../src/tensor/table-dots.js';
import { emitLatency, startClock } from '../measure.js';

const { values } = parseArgs({
  options: {
    backends: { type: 'string', default: 'host,wasm,tensorflow' },
    seconds: { type: 'string', default: '2' },
    threads: { type: 'string', default: '1' },
  },
});
const [stateDim, hidden, actions] = [576, 400, 50];
const [sizes, turns] = [[1, 8, 64], 8];
const rng = Rng.named(0, 'bench/policy');
const normal = (length: number, scale: number) => Float32Array.from({ length }, () => rng.normal() * scale);
const layers: DenseLayer[] = [stateDim, hidden, hidden].map((rows) => ({
  weights: normal(rows * hidden, 1 / Math.sqrt(rows)),
  rows,
  columns: hidden,
  tanh: true,
}));

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
  const policy = backend === 'host' ? onHost() : await onBackend(backend);
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
function onHost(): Policy {
  const arena = new Arena();
  const stack = new DenseStack(arena, openKernels(arena.memory), layers, Math.max(...sizes));
  return ({ states, candidates, offsets }, size) => {
    const left = new Int32Array(offsets.at(-1)!);
    const right = new Int32Array(offsets.at(-1)!);
    for (let s = 0; s < size; s++) {
      for (let i = offsets[s]!; i < offsets[s + 1]!; i++) [left[i], right[i]] = [s, s * actions + i - offsets[s]!];
    }
    return () => {
      const outputs = { values: stack.forward(states, size), stride: stack.width };
      const logits = hostDots(outputs, [{ values: candidates, width: hidden }], { left, right: [right] });
      return segmentLogSoftmax(logits, offsets);
    };
  };
}

/** Scores all fifty with one batched product, and reads the logits back. */
async function onBackend(word: string): Promise<Policy | undefined> {
  const backend = backendOf(word);
  if (backend !== 'auto' && (backend === 'host' || !(await probeBackend(backend)).found)) return undefined;
  const { tf } = await openBackend(backend);
  const weights = layers.map(({ weights, rows, columns }) => tf.tensor2d(weights, [rows, columns]));
  return ({ states, candidates, offsets }, size) => {
    const input = tf.tensor2d(states, [size, stateDim]);
    const rows = tf.tensor3d(candidates, [size, actions, hidden]);
    return async () => {
      const scores = tf.tidy(() => {
        const out = weights.reduce<Tensor>((before, matrix) => tf.tanh(tf.matMul(before, matrix)), input);
        return tf.matMul(rows, tf.reshape(out, [size, hidden, 1]));
      });
      const dense = (await scores.data()) as Float32Array;
      scores.dispose();
      const logits = new Float32Array(offsets.at(-1)!);
      for (let s = 0; s < size; s++) {
        logits.set(dense.subarray(s * actions, s * actions + offsets[s + 1]! - offsets[s]!), offsets[s]!);
      }
      return segmentLogSoftmax(logits, offsets);
    };
  };
}
