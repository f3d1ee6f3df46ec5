/**
 * PPO a second time, in plain numbers and straight from the papers: no typed arrays, no shared states, no closed forms.
 * Sums are written out, gradients are measured. It shares nothing with `trainers/ppo`.
 */
import { expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import type { Parameters } from '../../../src/nn/parameters.js';
import { adamOf } from '../../../trainers/ppo-phase.js';
import { ppo } from '../../fixtures/run-trainers.js';
import { wholeWalks } from '../../../trainers/rollout.js';
import { groupBaselines, ppoSettings, type PpoSettings } from '../../../trainers/ppo-settings.js';
import { often } from '../../fixtures/long-tests.js';
import { recordedTrees, rowNumbers, tableActor, tableCritic, type Walk, width } from '../../fixtures/random-walks.js';

/** Weights as numbers, with Adam's moments. */
interface ScalarTable {
  values: number[];
  first: number[];
  second: number[];
  steps: number;
}

const scalarTable = (values: ArrayLike<number>): ScalarTable => ({
  values: Array.from(values),
  first: Array.from(values, () => 0),
  second: Array.from(values, () => 0),
  steps: 0,
});

interface ScalarLearner {
  /** [row · width + action] */
  scores: ScalarTable;
  /** [row]; absent without a critic. */
  critic: ScalarTable | undefined;
  /** Scores of the clone, as `scores`. */
  anchor: number[];
  /** Moving average of earlier returns, with `baseline: moving-average`. */
  average: number;
}

interface Step {
  sample: number;
  row: number;
  index: number;
  legal: number[];
  oldLogProb: number;
  oldValue: number;
  advantage: number;
  target: number;
}

type Figures = Record<'loss' | 'policy_loss' | 'value_loss' | 'entropy' | 'anchor_kl' | 'feasibility_loss', number>;

const sum = (numbers: readonly number[]) => numbers.reduce((total, x) => total + x, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;

/** Probabilities of some of a row's actions among themselves. */
function softmax(scores: readonly number[], row: number, actions: readonly number[]): number[] {
  const powers = actions.map((action) => Math.exp(scores[row * width + action]!));
  return powers.map((power) => power / sum(powers));
}

/** Every step with its advantage, walk by walk. */
function stepsOf(walks: readonly Walk[], { scores, critic, average }: ScalarLearner, settings: PpoSettings): Step[] {
  const { gamma, baseline, normalizeAdvantage } = settings;
  const lambda = baseline === 'critic' ? settings.gaeLambda : 1;
  const valueOf = (row: number) => critic?.values[row] ?? 0;
  const returnFrom = ({ steps, cutAt }: Walk, t: number) =>
    sum(steps.slice(t).map(({ reward }, l) => gamma ** l * reward)) +
    (cutAt === undefined ? 0 : gamma ** (steps.length - t) * valueOf(cutAt));
  return walks.flatMap((walk) => {
    const group = walks.filter(({ sample }) => sample === walk.sample);
    // Schulman et al. 2016, eq. 10 and 16: δ and its discounted sum.
    const deltas = walk.steps.map(({ reward, row }, t) => {
      const next = walk.steps[t + 1]?.row ?? walk.cutAt;
      return reward + gamma * (next === undefined ? 0 : valueOf(next)) - valueOf(row);
    });
    return walk.steps.map(({ row, index, legal }, t) => {
      const generalized = sum(deltas.slice(t).map((delta, l) => (gamma * lambda) ** l * delta));
      const others = group.filter((other) => baseline === 'group-mean' || other !== walk);
      const compared = returnFrom(walk, t) - mean(others.map((other) => returnFrom(other, 0)));
      const spread = group.map((other) => returnFrom(other, 0) - mean(group.map((one) => returnFrom(one, 0))));
      const deviation = normalizeAdvantage === 'group' ? Math.sqrt(mean(spread.map((x) => x * x))) + 1e-8 : 1;
      const grouped = compared / deviation;
      return {
        ...{ sample: walk.sample, row, index, legal },
        oldLogProb: Math.log(softmax(scores.values, row, legal)[index]!),
        oldValue: valueOf(row),
        advantage: groupBaselines.includes(baseline)
          ? grouped
          : baseline === 'moving-average'
            ? returnFrom(walk, t) - average
            : generalized,
        target: groupBaselines.includes(baseline) ? returnFrom(walk, t) : generalized + valueOf(row),
      };
    });
  });
}

function normalized(steps: Step[], centred: boolean): Step[] {
  if (steps.length < 2) return steps;
  const middle = mean(steps.map(({ advantage }) => advantage));
  const deviation = Math.sqrt(mean(steps.map(({ advantage }) => (advantage - middle) ** 2)));
  return steps.map((step) => ({
    ...step,
    advantage: (step.advantage - (centred ? middle : 0)) / (deviation + 1e-8),
  }));
}

/** Schulman et al. 2017, eq. 7 and 9, or REINFORCE (Williams 1992), and what this workbench adds: KL from the clone, and the share of legal actions. */
function figuresOf(
  steps: readonly Step[],
  scores: readonly number[],
  values: readonly number[] | undefined,
  anchor: readonly number[],
  settings: PpoSettings,
): Figures & { approx_kl: number; clip_fraction: number } {
  const { algorithm, clipRange, dualClip, clipRangeValue } = settings;
  const all = Array.from({ length: width }, (_, action) => action);
  const each = steps.map(({ row, index, legal, oldLogProb, oldValue, advantage, target }) => {
    const probs = softmax(scores, row, legal);
    const clone = softmax(anchor, row, legal);
    const ratio = probs[index]! / Math.exp(oldLogProb);
    const clipped = ratio > 1 + clipRange ? 1 + clipRange : ratio < 1 - clipRange ? 1 - clipRange : ratio;
    let error = 0;
    if (values) {
      const free = (values[row]! - target) ** 2;
      const move = values[row]! - oldValue;
      const held = clipRangeValue === null ? move : Math.min(clipRangeValue, Math.max(-clipRangeValue, move));
      error = Math.max(free, (oldValue + held - target) ** 2);
    }
    return {
      policy_loss:
        algorithm === 'reinforce'
          ? -advantage * Math.log(probs[index]!)
          : advantage < 0 && dualClip !== null
            ? -Math.max(dualClip * advantage, Math.min(ratio * advantage, clipped * advantage))
            : -Math.min(ratio * advantage, clipped * advantage),
      value_loss: error,
      entropy: -sum(probs.map((p) => p * Math.log(p))),
      anchor_kl: settings.klCoef > 0 ? sum(probs.map((p, i) => p * Math.log(p / clone[i]!))) : 0,
      feasibility_loss: -Math.log(sum(softmax(scores, row, all).filter((_, action) => legal.includes(action)))),
      approx_kl: ratio - 1 - Math.log(ratio),
      clip_fraction: Number(Math.abs(ratio - 1) > clipRange),
    };
  });
  const of = (key: keyof (typeof each)[number]) => mean(each.map((one) => one[key]));
  const parts = {
    policy_loss: of('policy_loss'),
    value_loss: of('value_loss'),
    entropy: of('entropy'),
    anchor_kl: of('anchor_kl'),
    feasibility_loss: of('feasibility_loss'),
  };
  const loss =
    parts.policy_loss +
    settings.valueCoef * parts.value_loss -
    settings.entropyCoef * parts.entropy +
    settings.klCoef * parts.anchor_kl +
    settings.feasibilityCoef * parts.feasibility_loss;
  return { loss, ...parts, approx_kl: of('approx_kl'), clip_fraction: of('clip_fraction') };
}

/** Gradients of `f` by those of `x` that `moves` names; the others are 0. */
function grads(x: readonly number[], moves: Iterable<number>, f: (x: number[]) => number): number[] {
  // So small that hardly a ratio crosses the edge of its clip in between.
  const h = 1e-7;
  const moved = x.slice();
  const result = x.map(() => 0);
  for (const i of moves) {
    moved[i] = x[i]! + h;
    const above = f(moved);
    moved[i] = x[i]! - h;
    result[i] = (above - f(moved)) / (2 * h);
    moved[i] = x[i]!;
  }
  return result;
}

/** Kingma and Ba 2015, algorithm 1, after the norm of the gradient was held. @returns the norm before */
function adam(table: ScalarTable, gradient: readonly number[], settings: PpoSettings): number {
  const { learningRate, adamEpsilon, maxGradNorm } = settings;
  const norm = Math.sqrt(sum(gradient.map((g) => g * g)));
  const scale = maxGradNorm > 0 && norm > maxGradNorm ? maxGradNorm / norm : 1;
  const t = ++table.steps;
  gradient.forEach((raw, i) => {
    const g = raw * scale;
    table.first[i] = 0.9 * table.first[i]! + 0.1 * g;
    table.second[i] = 0.999 * table.second[i]! + 0.001 * g * g;
    const m = table.first[i]! / (1 - 0.9 ** t);
    const v = table.second[i]! / (1 - 0.999 ** t);
    table.values[i]! -= (learningRate * m) / (Math.sqrt(v) + adamEpsilon);
  });
  return norm;
}

/**
 * One update: several passes over minibatches of whole samples. Changes the learner's tables.
 * @param nextOrder draws the order of the samples for a pass
 * @returns figures by the field's names, means over the steps
 */
function scalarUpdate(
  walks: readonly Walk[],
  learner: ScalarLearner,
  settings: PpoSettings,
  nextOrder: (samples: number[]) => number[],
): Record<string, number> {
  const centred = ['critic', 'none'].includes(settings.baseline);
  let steps = stepsOf(walks, learner, settings);
  if (settings.normalizeAdvantage === 'buffer') steps = normalized(steps, centred);
  const meanReturn = mean(walks.map(({ steps: own }) => sum(own.map(({ reward }, l) => settings.gamma ** l * reward))));
  learner.average += (1 - settings.baselineDecay) * (meanReturn - learner.average);
  const seen: Record<string, number>[] = [];
  const samples = [...new Set(walks.map(({ sample }) => sample))];
  passes: for (let epoch = 0; epoch < settings.updateEpochs; epoch++) {
    const order = nextOrder(samples);
    for (let begin = 0; begin < order.length; begin += settings.minibatchSamples) {
      const chosen = order.slice(begin, begin + settings.minibatchSamples);
      const own = steps.filter(({ sample }) => chosen.includes(sample));
      const batch = settings.normalizeAdvantage === 'minibatch' ? normalized(own, centred) : own;
      const { scores, critic, anchor } = learner;
      const at = (x: readonly number[], v: readonly number[] | undefined) => figuresOf(batch, x, v, anchor, settings);
      const now = at(scores.values, critic?.values);
      const visited = [...new Set(batch.map(({ row }) => row))];
      const cells = visited.flatMap((row) => Array.from({ length: width }, (_, action) => row * width + action));
      const byScores = grads(scores.values, cells, (x) => at(x, critic?.values).loss);
      const byValues = critic && grads(critic.values, visited, (v) => at(scores.values, v).loss);
      const { approx_kl, clip_fraction, ...losses } = now;
      const moved = settings.algorithm === 'ppo' && { approx_kl, clip_fraction };
      seen.push({ ...losses, ...moved, grad_norm: adam(scores, byScores, settings) });
      if (critic) adam(critic, byValues!, settings);
      if (settings.targetKl !== null && approx_kl > 1.5 * settings.targetKl) break passes;
    }
  }
  return Object.fromEntries(Object.keys(seen[0]!).map((key) => [`train/${key}`, mean(seen.map((one) => one[key]!))]));
}

const baselines = ['group-mean', 'critic', 'none', 'moving-average', 'leave-one-out'] as const;
const normalizations = ['minibatch', 'buffer', 'none', 'group'] as const;

/** Every baseline with every normalisation in turn; what else can be switched is drawn. */
function settingsOf(seed: number): PpoSettings {
  const rng = Rng.named(seed, 'test/settings');
  const one = <T>(...choices: T[]): T => choices[rng.integer(choices.length)]!;
  const drawn = {
    ...{ updates: 2, samplesPerUpdate: 4, explorations: 3, lrDecay: 'none', warmupUpdates: 0, learningRate: 0.1 },
    baseline: baselines[seed % 5],
    normalizeAdvantage: normalizations[Math.floor(seed / 5) % 4],
    minibatchSamples: one(2, 3, 4),
    updateEpochs: one(1, 2, 3),
    // 10 clips nothing.
    clipRange: one(0.05, 0.2, 10),
    clipRangeValue: one(null, 0.05, 0.3),
    valueCoef: one(0.5, 1.3),
    entropyCoef: one(0, 0.3),
    klCoef: one(0, 0.7),
    feasibilityCoef: one(0, 0.6),
    gamma: one(1, 0.8),
    gaeLambda: one(0, 0.6, 1),
    maxGradNorm: one(0, 0.3),
    targetKl: one(null, null, 0.02),
    // Large, so that a gradient of rounding's size does not become a whole step.
    adamEpsilon: 0.01,
    baselineDecay: one(0, 0.5),
    actionDropout: one(0, 0.7),
    dualClip: one(null, 1.02, 1.5),
  };
  const reinforce = { algorithm: 'reinforce', minibatchSamples: 4, updateEpochs: 1, targetKl: null, dualClip: null };
  return ppoSettings.parse({ ...drawn, ...(rng.uniform() < 0.3 && reinforce) });
}

/** Entries that differ by more than 1e-5, relative to 1 plus the size of the number. */
const far = (what: string, actual: ArrayLike<number>, expected: readonly number[]) =>
  expected.flatMap((value, i) => {
    const error = Math.abs(actual[i]! - value) / (1 + Math.abs(value));
    return error < 1e-5 ? [] : [`${what}[${i}]: ${actual[i]}, not ${value}`];
  });

test('PPO gives the losses, gradients, moments and weights of an independent scalar version, with any switches', async () => {
  let clipped = 0;
  let reinforced = 0;
  for (let seed = 0; seed < often(24, 1000); seed++) {
    const settings = settingsOf(seed);
    const rowOf = rowNumbers();
    const actor = tableActor(seed, rowOf);
    const anchor = tableActor(seed + 1e6, rowOf);
    const network = settings.baseline === 'critic' ? tableCritic(seed, rowOf) : undefined;
    const optimizer = adamOf(actor.parameters, settings);
    const critic = network && { network, optimizer: adamOf(network.parameters, settings) };
    const kind = { seed, ends: true, cuts: seed % 2 === 0 };
    const { envs, walks } = recordedTrees(kind, settings.samplesPerUpdate * settings.explorations, rowOf);
    const numbersOf = async (set: Parameters, name: string) => (await set.export())[name]!.data;
    const learner = {
      scores: scalarTable(await numbersOf(actor.parameters, 'scores')),
      critic: network && scalarTable(await numbersOf(network.parameters, 'values')),
      anchor: [...(await numbersOf(anchor.parameters, 'scores'))],
      average: 0,
    };
    let updates = 0;
    // Equal advantages that are divided by their deviation make losses of 1e8, whose differences leave no digit of a gradient.
    let isPrecise = true;
    await ppo({
      ...{ actor, optimizer, critic, referencePolicy: anchor, settings, seed },
      collect: wholeWalks(
        envs,
        Int32Array.from({ length: 8 }, (_, i) => i),
      ),
      async onUpdate({ update, metrics }) {
        const rng = Rng.named(seed, 'ppo/shuffle', update - 1);
        const expected = scalarUpdate(walks, learner, settings, (samples) => [
          ...rng.shuffle(Int32Array.from(samples)),
        ]);
        isPrecise &&= Math.abs(expected['train/loss']!) < 1e4;
        const keys = Object.keys(expected);
        const wrong = far(
          keys.join(),
          keys.map((key) => metrics[key]!),
          Object.values(expected),
        );
        const compare = async (name: string, set: Parameters, state: typeof optimizer, table: ScalarTable) => {
          const moments = (await state.exportState('')).tensors;
          const actual = {
            values: await numbersOf(set, name),
            first: moments[`first/${name}`]!.data,
            second: moments[`second/${name}`]!.data,
          };
          for (const part of ['values', 'first', 'second'] as const) {
            wrong.push(...far(`${part} of ${name}`, actual[part], table[part]));
          }
        };
        await compare('scores', actor.parameters, optimizer, learner.scores);
        if (critic) await compare('values', network.parameters, critic.optimizer, learner.critic!);
        if (isPrecise) expect({ seed, update, settings, wrong }).toEqual({ seed, update, settings, wrong: [] });
        clipped += metrics['train/clip_fraction'] ?? 0;
        if (settings.algorithm === 'reinforce') expect(metrics).not.toHaveProperty(['train/clip_fraction']);
        reinforced += Number(settings.algorithm === 'reinforce');
        updates++;
      },
    });
    expect(updates).toBe(2);
    envs.close();
    for (const { parameters } of [actor, anchor, ...(network ? [network] : [])]) parameters.dispose();
    optimizer.dispose();
    critic?.optimizer.dispose();
  }
  expect(reinforced).toBeGreaterThan(3);
  // Otherwise nothing was clipped, and the clip was not compared.
  expect(clipped).toBeGreaterThan(1);
});
