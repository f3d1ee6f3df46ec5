/**
 * Proximal policy optimisation of any walk, in the order of the paper: walk, estimate advantages, update, repeat.
 * @source Schulman et al. 2017, arXiv:1707.06347, algorithm 1; LLM-ARK (Huang 2024), section 3.4, for several
 *   explorations a sample
 */
import type { ActionLogProbs, Actor, ValueNetwork } from '../../agents/actor.js';
import type { VectorEnv } from '../../envs/vector-env.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { Rng } from '../../src/run/seeds.js';
import { throwIfStopped } from '../../src/run/stop.js';
import type { AdamW } from '../../src/tensor/adamw.js';
import { injectGradient, readTensor } from '../../src/tensor/ops.js';
import { explainedVariance, generalizedAdvantages, groupMeanAdvantages, normalizeAdvantages } from './advantages.js';
import { collectRollouts } from './collect.js';
import { ppoObjective, type ObjectiveResult, type ObjectiveSettings } from './objective.js';
import { RolloutBuffer, type Minibatch } from './rollout-buffer.js';
import { minibatchParts } from './minibatch-parts.js';
import { entropyCoefAt, learningRateAt, samplesOf } from './schedule.js';
import type { PpoSettings } from './settings.js';

/** What PPO moves: a policy, and a critic where there is one. */
export interface Learner<Observation, Request> {
  actor: Actor<Observation, Request>;
  optimizer: AdamW;
  /** With its own optimizer; needed by `baseline: critic` alone. */
  critic?: { network: ValueNetwork<Request>; optimizer: AdamW } | undefined;
}

export interface PpoOptions<Observation, Request> extends Learner<Observation, Request> {
  /** The frozen clone that the policy is kept near; needed where `klCoef` > 0. */
  anchor?: Actor<Observation, Request> | undefined;
  /** `samplesPerUpdate` × `explorations` copies of an env over the train samples. */
  envs: VectorEnv<Observation>;
  /** Indices of the env's samples that can be walked. */
  walkable: Int32Array;
  settings: PpoSettings;
  seed: number;
  /** Updates done before, by the run that is resumed. Default 0. */
  startUpdate?: number;
  /** After every update: the time to log, evaluate and save. Returning true ends training. */
  onUpdate?: (update: PpoUpdate) => Promise<boolean | void> | boolean | void;
  signal?: AbortSignal | undefined;
}

export interface PpoUpdate {
  /** From 1. */
  update: number;
  /** Environment steps of this update. */
  steps: number;
  /** By the field's names: `rollout/reward`, `train/approx_kl` … */
  metrics: Record<string, number>;
}

/**
 * Largest |ratio − 1| before the first step of an update; more means that sampling and training disagree. On processors
 * they agree to the last bit, however states are batched; kernels of a GPU round by the shape of the batch.
 */
const ratioTolerance = (backend: string) => (backend === 'tensorflow' ? 1e-4 : 1e-6);

/** Scores that go through the network at once: bounds memory, whatever hubs a policy visits. */
const maxPartScores = 32768;

interface StepResult {
  /** By the field's names. */
  figures: Record<string, number>;
  maxRatioDeviation: number;
}

/**
 * Trains until the last update. Every random choice is named by its update, so a resumed run needs only weights,
 * optimizers and the number of updates done.
 * @throws WorkbenchError `stopped` once `signal` is aborted, after finishing an update
 */
export async function ppo<Observation, Request>(options: PpoOptions<Observation, Request>): Promise<void> {
  const { actor, critic, envs, walkable, settings, seed, startUpdate = 0 } = options;
  const backend = actor.parameters.tf.getBackend();
  const buffer = new RolloutBuffer<Request>(settings.samplesPerUpdate * settings.explorations * envs.spec.maxSteps);
  for (let update = startUpdate; update < settings.updates; update++) {
    throwIfStopped(options.signal);
    const samples = samplesOf(update, walkable, settings.samplesPerUpdate, seed);
    const walkRng = Rng.named(seed, 'ppo/walk', update);
    const rollout = collectRollouts(actor, critic?.network, envs, buffer, samples, settings.explorations, walkRng);

    const { rollout: columns } = buffer;
    const advantages =
      settings.baseline === 'group-mean'
        ? groupMeanAdvantages(columns, buffer.samples, settings.gamma)
        : generalizedAdvantages(columns, settings.gamma, settings.baseline === 'critic' ? settings.gaeLambda : 1);
    const centre = settings.baseline !== 'group-mean';
    if (settings.normalizeAdvantage === 'buffer') normalizeAdvantages(advantages.advantages, centre);
    buffer.setAdvantages(advantages);

    const learningRate = learningRateAt(update, settings);
    const weighed = { ...settings, entropyCoef: entropyCoefAt(update, settings) };
    const anchored = settings.klCoef > 0 ? options.anchor?.actionLogProbs(buffer.states) : undefined;
    const results: StepResult[] = [];
    const shuffle = Rng.named(seed, 'ppo/shuffle', update);
    let stopped = false;
    for (let epoch = 0; epoch < settings.updateEpochs && !stopped; epoch++) {
      for (const minibatch of buffer.minibatches(settings.minibatchSamples, shuffle)) {
        if (settings.normalizeAdvantage === 'minibatch') normalizeAdvantages(minibatch.transitions.advantage, centre);
        const result = step(options, buffer.states, minibatch, weighed, anchored, learningRate);
        if (results.length === 0) checkRatio(result.maxRatioDeviation, update, backend);
        results.push(result);
        stopped = settings.targetKl !== null && result.figures['train/approx_kl']! > 1.5 * settings.targetKl;
        if (stopped) break;
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
    if (await options.onUpdate?.({ update: update + 1, steps: rollout.steps, metrics })) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** One gradient step of actor and critic on one minibatch, part by part. */
function step<Observation, Request>(
  { actor, optimizer, critic }: Learner<Observation, Request>,
  known: readonly Request[],
  minibatch: Minibatch,
  settings: ObjectiveSettings,
  anchored: ActionLogProbs | undefined,
  learningRate: number,
): StepResult {
  const { tf } = actor.parameters;
  const sizes = Array.from(minibatch.states, (state) => actor.numScores(known[state]!));
  const parts = minibatchParts(minibatch, sizes, maxPartScores).map((part) => {
    // States of one sample side by side: what they share is read once for all of them.
    const requests = Array.from(part.states, (state) => known[state]!);
    const values = critic?.network.values(requests);
    return { ...part, scored: actor.score(requests), values, estimates: values && readTensor(tf, values) };
  });
  const results: ObjectiveResult[] = [];
  const actorLosses = parts.map(({ scored, transitions, states, estimates, share }) => () => {
    const logits = scored.logits();
    const anchorLogProbs = anchored && gatherSegments(anchored, states);
    const result = ppoObjective(
      {
        logits: logits.dataSync() as Float32Array,
        offsets: scored.offsets,
        transitions,
        ...(scored.masked && { masked: scored.masked }),
        ...(estimates && { values: estimates }),
        ...(anchorLogProbs && { anchorLogProbs }),
      },
      settings,
    );
    results.push(result);
    return injectGradient(tf, logits, scaled(result.dLogits, share));
  });
  const gradNorm = optimizer.minimize(actorLosses, learningRate);
  actor.weightsChanged();
  critic?.optimizer.minimize(
    parts.map(
      ({ values, share }, i) =>
        () =>
          injectGradient(tf, values!(), scaled(results[i]!.dValues, share)),
    ),
    learningRate,
  );
  const shares = parts.map(({ share }) => share);
  return {
    figures: { ...weightedMeans(results, shares), 'train/grad_norm': gradNorm },
    maxRatioDeviation: Math.max(...results.map(({ diagnostics }) => diagnostics.maxRatioDeviation)),
  };
}

function scaled(gradient: Float32Array, share: number): Float32Array {
  return share === 1 ? gradient : gradient.map((value) => value * share);
}

/** The log-probabilities of some states, side by side. */
function gatherSegments({ logProbs, offsets }: ActionLogProbs, states: Int32Array): Float32Array {
  const parts = Array.from(states, (state) => logProbs.subarray(offsets[state]!, offsets[state + 1]!));
  const gathered = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    gathered.set(part, at);
    at += part.length;
  }
  return gathered;
}

function checkRatio(deviation: number, update: number, backend: string): void {
  if (deviation <= ratioTolerance(backend)) return;
  throw new WorkbenchError(
    'failure',
    `expected probability ratios of 1 before the first step, got a deviation of ${deviation}, at update ${update + 1}`,
    { hint: 'Sampling and training see different actions or weights: a custom head or environment is not consistent.' },
  );
}

/** The figures of a step under the field's names, parts weighted by their share of transitions. */
function weightedMeans(results: readonly ObjectiveResult[], shares: readonly number[]): Record<string, number> {
  const mean = (of: (result: ObjectiveResult) => number) =>
    results.reduce((sum, result, i) => sum + shares[i]! * of(result), 0);
  return {
    'train/loss': mean(({ losses }) => losses.loss),
    'train/policy_loss': mean(({ losses }) => losses.policyLoss),
    'train/value_loss': mean(({ losses }) => losses.valueLoss),
    'train/entropy': mean(({ losses }) => losses.entropy),
    'train/entropy_share': mean(({ diagnostics }) => diagnostics.normalizedEntropy),
    'train/anchor_kl': mean(({ losses }) => losses.anchorKl),
    'train/feasibility_loss': mean(({ losses }) => losses.feasibilityLoss),
    'train/approx_kl': mean(({ diagnostics }) => diagnostics.approxKl),
    'train/clip_fraction': mean(({ diagnostics }) => diagnostics.clipFraction),
  };
}

/** Means over the steps of an update. */
function summary(steps: readonly StepResult[]): Record<string, number> {
  const keys = Object.keys(steps[0]!.figures);
  return Object.fromEntries(
    keys.map((key) => [key, steps.reduce((sum, { figures }) => sum + figures[key]! / steps.length, 0)]),
  );
}
