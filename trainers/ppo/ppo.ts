/**
 * Proximal policy optimisation of any walk, in the order of the paper: walk, estimate advantages, update, repeat.
 * @source Schulman et al. 2017, arXiv:1707.06347, algorithm 1; LLM-ARK (Huang 2024), section 3.4, for several
 *   explorations a sample
 */
import { setImmediate } from 'node:timers/promises';
import { actionLogProbs, type Actor, type TaskRequest } from '../../agents/actor.js';
import type { BatchedEnv } from '../../envs/vector-env.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import { explainedLater } from '../../src/tensor/diverged.js';
import { actionDraw } from './action-draw.js';
import {
  advantagesFrom,
  explainedVariance,
  generalizedAdvantages,
  groupMeanAdvantages,
  meanReturn,
  normalizeAdvantages,
  type Advantages,
} from './advantages.js';
import { collectRollouts } from './collect.js';
import { RolloutBuffer } from './rollout-buffer.js';
import { ppoStep, type Learner, type StepResult } from './ppo-step.js';
import { entropyCoefAt, learningRateAt, sampleOrder } from './schedule.js';
import type { PpoSettings } from './settings.js';

/** What learns in which environments, from where on, and who is told. */
export interface PpoOptions<Observation, Request extends TaskRequest> extends Learner<Observation, Request> {
  /** The frozen clone that the policy is kept near; needed where `klCoef` > 0. */
  anchor?: Actor<Observation, Request> | undefined;
  /** `samplesPerUpdate` × `explorations` copies of an env over the train samples. */
  envs: BatchedEnv<Observation>;
  /** Indices of the env's samples that can be walked. */
  walkable: Int32Array;
  settings: PpoSettings;
  seed: number;
  /** Updates done before, by the run that is resumed. Default 0. */
  startUpdate?: number;
  /** The moving average that those updates left; needed with `baseline: moving-average`. Default 0. */
  startAverage?: number;
  /** After every update: the time to log, evaluate and save. Returning true ends training. */
  onUpdate?: (update: PpoUpdate) => Promise<boolean | void> | boolean | void;
  signal?: AbortSignal | undefined;
}

/** Figures of one round. */
export interface PpoUpdate {
  /** From 1. */
  update: number;
  /** Environment steps of this update. */
  steps: number;
  /** By the field's names: `rollout/reward`, `train/approx_kl` … */
  metrics: Record<string, number>;
  /** Moving average of the returns with this round's in it; with `baseline: moving-average`. */
  averageReturn?: number;
}

/**
 * Largest |ratio − 1| before the first step of an update; more means that sampling and training disagree. On processors
 * they agree to the last bit, however states are batched; kernels of a GPU round by the shape of the batch, and where scores
 * are rounded to bfloat16 a last bit decides about a whole step of those: 1/16 at scores of 8 to 16.
 */
function ratioTolerance({ parameters, precision }: Pick<Actor<never, never>, 'parameters' | 'precision'>): number {
  if (['wasm', 'cpu'].includes(parameters.backend)) return 1e-6;
  return precision === 'bf16' ? 0.25 : 1e-4;
}

/**
 * Trains until the last update. Every random choice is named by its update, so a resumed run needs only weights,
 * optimizers, the number of updates done, and the moving average of returns where that is the baseline.
 * @throws WorkbenchError `stopped` once `signal` is aborted, after finishing an update; `Diverged` at a step whose numbers are
 *   not finite
 */
export async function ppo<Observation, Request extends TaskRequest>(
  options: PpoOptions<Observation, Request>,
): Promise<void> {
  const { envs, settings, startUpdate = 0 } = options;
  const buffer = new RolloutBuffer<Request>(settings.samplesPerUpdate * settings.explorations * envs.spec.maxSteps);
  const samplesOf = sampleOrder(options.walkable, settings.samplesPerUpdate, options.seed);
  let averageReturn = options.startAverage ?? 0;
  for (let update = startUpdate; update < settings.updates; update++) {
    throwIfStopped(options.signal);
    const done = await explainedLater(
      () => ({ place: { update: update + 1 } }),
      () => makeUpdate(options, { buffer, update, samples: samplesOf(update), averageReturn }),
    );
    averageReturn = done.averageReturn ?? averageReturn;
    if (await options.onUpdate?.(done)) return;
    await setImmediate();
  }
}

/** One round of walking and learning. */
interface Round<Request> {
  buffer: RolloutBuffer<Request>;
  update: number;
  /** Indices of what is walked. */
  samples: readonly number[];
  /** Moving average of the rounds before. */
  averageReturn: number;
}

/** Walks, estimates advantages, and steps over the buffer. */
async function makeUpdate<Observation, Request extends TaskRequest>(
  options: PpoOptions<Observation, Request>,
  { buffer, update, samples, averageReturn }: Round<Request>,
): Promise<PpoUpdate> {
  const { actor, critic, envs, settings, seed } = options;
  const draw = actionDraw(Rng.named(seed, 'ppo/walk', update), {
    rate: settings.actionDropout,
    rng: Rng.named(seed, 'ppo/dropout', update),
  });
  const rollout = await collectRollouts(actor, critic?.network, envs, buffer, samples, settings.explorations, draw);

  const { rollout: columns } = buffer;
  const advantages = advantagesOf(buffer, settings, averageReturn);
  const centre = settings.baseline === 'critic' || settings.baseline === 'none';
  if (settings.normalizeAdvantage === 'buffer') normalizeAdvantages(advantages.advantages, centre);
  buffer.setAdvantages(advantages);

  const learningRate = learningRateAt(update, settings);
  const weighed = { ...settings, entropyCoef: entropyCoefAt(update, settings) };
  const anchored =
    settings.klCoef > 0 && options.anchor ? await actionLogProbs(options.anchor, buffer.states) : undefined;
  const results: StepResult[] = [];
  const shuffle = Rng.named(seed, 'ppo/shuffle', update);
  let stopped = false;
  for (let epoch = 0; epoch < settings.updateEpochs && !stopped; epoch++) {
    let number = 0;
    for (const minibatch of buffer.minibatches(settings.minibatchSamples, shuffle)) {
      if (settings.normalizeAdvantage === 'minibatch') normalizeAdvantages(minibatch.transitions.advantage, centre);
      const place = { epoch: epoch + 1, minibatch: ++number };
      const result = await explainedLater(
        () => ({ place }),
        () => ppoStep(options, { known: buffer.states, minibatch, anchored }, weighed, learningRate),
      );
      if (results.length === 0) checkRatio(result.maxRatioDeviation, update, ratioTolerance(actor));
      results.push(result);
      stopped = settings.targetKl !== null && result.figures['train/approx_kl']! > 1.5 * settings.targetKl;
      if (stopped) break;
      // Lets progress lines through, and whoever asks twice to stop.
      await setImmediate();
    }
  }

  const metrics = {
    'rollout/reward': rollout.reward,
    'rollout/hit_rate': rollout.hits,
    'rollout/length': rollout.length,
    ...summary(results),
    'train/first_ratio_deviation': results[0]!.maxRatioDeviation,
    'train/learning_rate': learningRate,
    ...(critic && { 'train/explained_variance': explainedVariance(columns.values, advantages.returns) }),
  };
  const done = { update: update + 1, steps: rollout.steps, metrics };
  if (settings.baseline !== 'moving-average') return done;
  const { baselineDecay, gamma } = settings;
  return { ...done, averageReturn: baselineDecay * averageReturn + (1 - baselineDecay) * meanReturn(columns, gamma) };
}

/** @param averageReturn of the rounds before */
function advantagesOf<Request>(
  { rollout, samples }: RolloutBuffer<Request>,
  { baseline, gamma, gaeLambda }: PpoSettings,
  averageReturn: number,
): Advantages {
  if (baseline === 'group-mean') return groupMeanAdvantages(rollout, samples, gamma);
  if (baseline === 'moving-average') return advantagesFrom(averageReturn, rollout, gamma);
  return generalizedAdvantages(rollout, gamma, baseline === 'critic' ? gaeLambda : 1);
}

function checkRatio(deviation: number, update: number, tolerance: number): void {
  if (deviation <= tolerance) return;
  throw new WorkbenchError(
    'failure',
    `expected probability ratios of 1 before the first step, got a deviation of ${deviation}, at update ${update + 1}`,
    { hint: 'Sampling and training see different actions or weights: a custom head or environment is not consistent.' },
  );
}

/** Means over the steps of an update. */
function summary(steps: readonly StepResult[]): Record<string, number> {
  const keys = Object.keys(steps[0]!.figures);
  return Object.fromEntries(
    keys.map((key) => [key, steps.reduce((sum, { figures }) => sum + figures[key]! / steps.length, 0)]),
  );
}
