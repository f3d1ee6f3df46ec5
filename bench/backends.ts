/**
 * How far two runs of one seed part on two executors: they round differently, and every step builds on the one
 * before. One JSON line a measurement; also how far each is from itself, which must be nothing.
 *
 *     node dist/bench/backends.js [PRESET] [--backends simd,wasm] [--set clone.epochs=2]
 *
 * PRESET (default opendialkg-tiny) is trained once on each backend, in temporary folders; its data must be imported.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { optimizerPrefix, readCheckpoint } from '../checkpoints/checkpoint.js';
import { resolveCheckpoint } from '../checkpoints/store.js';
import { loadPreset } from '../presets/index.js';
import type { EvaluationRecord } from '../src/run/evaluation.js';
import { executorOf } from '../src/nn/open-executor.js';
import { train } from '../tasks/train.js';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    backends: { type: 'string', default: 'simd,wasm' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const preset = positionals[0] ?? 'opendialkg-tiny';
const [first, ...others] = values.backends.split(',').map(executorOf);
const root = mkdtempSync(join(tmpdir(), 'kgwalk-backends-'));
try {
  const reference = await trainOn(first!, 'first');
  for (const [i, backend] of [first!, ...others].entries()) {
    const folder = await trainOn(backend, `other-${i}`);
    for (const [after, which] of [
      ['cloning', 'clone'],
      ['PPO', 'last'],
    ] as const) {
      console.log(JSON.stringify({ after, backends: [first, backend], ...weightDifference(reference, folder, which) }));
    }
    console.log(
      JSON.stringify({ evaluated: 'best', backends: [first, backend], ...metricDifference(reference, folder) }),
    );
  }
} finally {
  rmSync(root, { recursive: true });
}

async function trainOn(backend: string, name: string): Promise<string> {
  const folder = join(root, name);
  await train({ settings: loadPreset(preset, [...values.set, `backend=${backend}`]), folder });
  return folder;
}

/** The largest difference of two weights, as a share of the largest weight. */
function weightDifference(one: string, other: string, which: string) {
  const [a, b] = [one, other].map((folder) => readCheckpoint(resolveCheckpoint(folder, which).file).tensors);
  let [largest, largestWeight, count, different] = [0, 0, 0, 0];
  for (const [name, { data }] of Object.entries(a!)) {
    if (name.startsWith(optimizerPrefix)) continue;
    const theirs = b![name]!.data;
    for (let i = 0; i < data.length; i++) {
      const difference = Math.abs(Number(data[i]) - Number(theirs[i]));
      largest = Math.max(largest, difference);
      largestWeight = Math.max(largestWeight, Math.abs(Number(data[i])));
      count++;
      if (difference > 0) different++;
    }
  }
  return { weights: count, different, largestDifference: largest, largestWeight };
}

/** The largest difference of a share, in points of a hundred, and where it is. */
function metricDifference(one: string, other: string) {
  const [a, b] = [one, other].map(
    (folder) =>
      (JSON.parse(readFileSync(join(folder, 'evaluations', 'valid-best.json'), 'utf8')) as EvaluationRecord).metrics,
  );
  const differences = Object.keys(a!).map((metric) => ({
    metric,
    points: 100 * Math.abs(a![metric]!.value - b![metric]!.value),
  }));
  const worst = differences.reduce((most, one) => (one.points > most.points ? one : most));
  return { samples: a!['path@1']!.n, path1: [a, b].map((of) => of!['path@1']!.value), largestDifference: worst };
}
