/**
 * `trainPolicy` on the environments of known optimum, as bench/peers/classic_ppo.py measures Stable-Baselines3 and sbx on the same:
 * environment steps a second of rollouts and updates together, with the run's log and checkpoints, and the mean return of 100
 * greedy episodes at the end; with `--curve` also on the way, off the clock.
 *
 *     node dist/bench/rows/classic-ppo.js cart-pole [--total 100000] [--seed 0] [--curve 5] [--folder DIR]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cartPoleId, gridId, maskedBanditId } from '../../envs/index.js';
import { evaluatePolicy, trainPolicy } from '../../tasks/trainers.js';
import { emitRate, startClock } from '../measure.js';

const ids = { 'cart-pole': cartPoleId, grid: gridId, 'masked-bandit': maskedBanditId };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: Object.fromEntries(
    ['total', 'envs', 'steps', 'minibatch', 'epochs', 'hidden', 'seed', 'curve', 'folder'].map((name) => [
      name,
      { type: 'string' as const },
    ]),
  ),
});
const number = (name: string, otherwise: number) => Number(values[name] ?? otherwise);
const name = positionals[0] as keyof typeof ids;
const env = ids[name];
if (env === undefined) throw new Error(`expected ${Object.keys(ids).join(', ')}, got ${name}`);
const [numEnvs, numSteps] = [number('envs', 8), number('steps', 256)];
const minibatchSize = number('minibatch', 64);
const updateEpochs = number('epochs', 10);
const hidden = [number('hidden', 64), number('hidden', 64)];
const totalSteps = number('total', 100_000);
const [seed, curveEvery] = [number('seed', 0), number('curve', 0)];
const updates = Math.ceil(totalSteps / (numEnvs * numSteps));

const folder = values.folder ?? join(mkdtempSync(join(tmpdir(), 'kgwalk-bench-')), 'run');
const curve: [steps: number, mean: number][] = [];
let clock = startClock();
const learned = { steps: 0, wall: 0, cpu: 0 };
let count = 0;
let done = 0;
await trainPolicy({
  env,
  folder,
  settings: {
    ...{ seed, totalSteps, numEnvs, numSteps, minibatchSize, updateEpochs, hidden },
    ...{ evalEvery: curveEvery === 0 ? updates : curveEvery, evalEpisodes: curveEvery === 0 ? 1 : 100 },
  },
  // The first round warms up; evaluations stand between a round and the next, and are not counted.
  onUpdate({ update, steps }) {
    count += steps;
    if (update > 1) {
      learned.steps += steps;
      learned.wall += clock.wall();
      learned.cpu += clock.cpu();
    }
    done = update;
    clock = startClock();
  },
  onMetrics({ step, metrics }) {
    const mean = metrics['eval/return'];
    if (mean === undefined) return;
    if (curveEvery > 0) curve.push([step * numEnvs * numSteps, Number(mean.toFixed(3))]);
    clock = startClock();
  },
});
if (done !== updates) throw new Error(`expected ${updates} updates, got ${done}`);
const { return: reached } = await evaluatePolicy(folder, env, { checkpoint: 'last', episodes: 100, seed: 1000 + seed });
emitRate({
  task: 'classic-ppo',
  settings: { env: name, envs: numEnvs, n_steps: numSteps, minibatch: minibatchSize, epochs: updateEpochs, hidden },
  count: learned.steps,
  unit: 'env steps/s',
  spent: learned,
  quality: { return: Number(reached.value.toFixed(3)), env_steps: count, seed, ...(curve.length > 0 && { curve }) },
});
if (values.folder === undefined) rmSync(join(folder, '..'), { recursive: true });
