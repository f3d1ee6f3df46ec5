/**
 * Proximal policy optimisation over any kind of walk, in the paper's order: collect, estimate advantages, update, repeat.
 * @source Schulman et al. 2017, arXiv:1707.06347, algorithm 1; LLM-ARK (Huang 2024), section 3.4, for several rollouts per sample
 */
import { actionLogProbs, type Actor } from './actor.js';
import { WorkbenchError } from '../src/run/errors.js';
import { Rng } from '../src/run/seeds.js';
import { eventLoopYielder } from '../src/run/stop.js';
import { centres, estimateAdvantages, explainedVariance, meanReturn, normalizeAdvantages } from './advantages.js';
import type { PpoSettings } from './ppo-settings.js';
import { QueuedSteps } from './ppo-queued.js';
import { type ActorCritic, ppoStep, type StepBatch, type StepResult } from './ppo-step.js';
import { actionDraw, type Collect } from './rollout.js';
import type { Minibatch, Rollout } from './rollout-buffer.js';

/** Networks and experience. */
export interface PpoOptions<Observation, Request> extends ActorCritic<Observation, Request> {
  /** Frozen clone as reference policy; needed if `klCoef` > 0. */
  referencePolicy?: Actor<Observation, Request> | undefined;
  /** Collector of experience: `wholeWalks` of samples, or `fixedSteps` of continuing environments. */
  collect: Collect<Observation, Request>;
  settings: PpoSettings;
  seed: number;
}

/** Figures of one round. */
export interface PpoUpdate {
  /** Environment steps of this update. */
  steps: number;
  /** By metric name: `rollout/reward`, `train/approx_kl` … */
  metrics: Record<string, number>;
}

/**
 * Makes updates one by one. Every random choice is named by its update, so a resumed run needs only weights, optimizers, the
 * number of updates done, and the moving average of returns if that is the baseline.
 */
export class PpoTrainer<Observation, Request> {
  /** Moving average of returns, the baseline of `baseline: moving-average`. */
  averageReturn = 0;
  readonly #collect: ReturnType<Collect<Observation, Request>>;
  /** Lets progress lines and requests to stop through. */
  readonly #turn = eventLoopYielder();

  constructor(readonly options: PpoOptions<Observation, Request>) {
    const { actor, critic, settings, seed } = options;
    this.#collect = options.collect({ actor, critic: critic?.network, settings, seed });
  }

  /** One update. @param at from 0 @throws Diverged at a step whose numbers are not finite */
  async step(at: number): Promise<PpoUpdate> {
    const { actor, critic, referencePolicy, settings, seed } = this.options;
    const { gamma, baselineDecay } = settings;
    const rng = (what: string) => Rng.named(seed, `ppo/${what}`, at);
    actor.drop?.(rng('network-dropout'));
    const draw = actionDraw(rng('walk'), { rate: settings.actionDropout, rng: rng('dropout') });
    const experience = await this.#collect(at, draw);
    const { rollout } = experience;
    const advantages = estimateAdvantages(rollout, experience.samples, settings, this.averageReturn);
    experience.setAdvantages(advantages);
    const reference =
      referencePolicy && settings.klCoef > 0 ? await actionLogProbs(referencePolicy, experience.states) : undefined;
    const round = { round: experience, reference };
    const shuffle = rng('shuffle');
    const learningRate = learningRateAt(at, settings);
    const weighed = { ...settings, entropyCoef: entropyCoefAt(at, settings) };
    const steps: StepResult[] = [];
    const goesOn = (step: StepResult) => {
      if (steps.push(step) === 1) checkRatio(step.maxRatioDeviation, at, ratioTolerance(actor));
      return settings.targetKl === null || step.figures['train/approx_kl']! <= 1.5 * settings.targetKl;
    };
    if (queues(this.options)) await this.#stepQueued(round, shuffle, weighed, learningRate, goesOn);
    else {
      epochs: for (let epoch = 1; epoch <= settings.updateEpochs; epoch++) {
        for (const minibatch of minibatchesOf(experience, shuffle, settings)) {
          if (!goesOn(await ppoStep(this.options, { ...round, minibatch }, weighed, learningRate))) break epochs;
          await this.#turn();
        }
      }
    }
    actor.drop?.(undefined);
    if (settings.baseline === 'moving-average') {
      this.averageReturn = baselineDecay * this.averageReturn + (1 - baselineDecay) * meanReturn(rollout, gamma);
    }
    const metrics = {
      ...experience.figures,
      ...meansOf(steps.map(({ figures }) => figures)),
      'train/first_ratio_deviation': steps[0]!.maxRatioDeviation,
      'train/learning_rate': learningRate,
      ...(critic && { 'train/explained_variance': explainedVariance(rollout.values, advantages.returns) }),
    };
    return { steps: rollout.rewards.length, metrics };
  }

  /** Epochs on a device: an epoch is one submit, a round one read; with a `targetKl` each epoch is read. */
  async #stepQueued(
    { round, reference }: Omit<StepBatch<Request>, 'minibatch'> & { round: Rollout<Request> },
    shuffle: Rng,
    settings: PpoSettings,
    learningRate: number,
    goesOn: (step: StepResult) => boolean,
  ): Promise<void> {
    for (let epoch = 1, go = true; go && epoch <= settings.updateEpochs;) {
      const queued = new QueuedSteps(this.options, settings, round);
      try {
        do {
          for (const minibatch of minibatchesOf(round, shuffle, settings)) {
            queued.add({ round, minibatch, reference }, learningRate);
          }
          queued.submit();
          await this.#turn();
        } while (++epoch <= settings.updateEpochs && settings.targetKl === null);
        go = (await queued.results()).map(goesOn).at(-1)!;
      } finally {
        queued.close();
      }
    }
  }
}

/** Minibatches of one pass over a round, their advantages normalised if the settings say so. */
function* minibatchesOf(round: Rollout<unknown>, shuffle: Rng, settings: PpoSettings): Generator<Minibatch> {
  for (const minibatch of round.minibatches(shuffle)) {
    const { advantage } = minibatch.transitions;
    if (settings.normalizeAdvantage === 'minibatch') normalizeAdvantages(advantage, centres(settings));
    yield minibatch;
  }
}

/** Networks of a run, of any kind. */
interface Trained {
  actor: Pick<Actor<never, never>, 'parameters'>;
  critic?: { network: Pick<Actor<never, never>, 'parameters'> } | undefined;
}

/** True where steps need nothing of the host between them. */
function queues({ actor, critic }: Trained): boolean {
  const networks = [actor.parameters, ...(critic ? [critic.network.parameters] : [])];
  return networks.every(({ executor }) => executor.queue);
}

/**
 * Largest accepted |ratio − 1| before the first step of an update; more means that sampling and training disagree. On
 * processors they agree to the last bit for any batching; GPU kernels round by the shape of the batch, and for scores
 * rounded to bfloat16 a last bit decides about a whole step: 1/16 at scores of 8 to 16.
 */
function ratioTolerance({ parameters, precision }: Pick<Actor<never, never>, 'parameters' | 'precision'>): number {
  if (parameters.executor.rowsAreIndependent) return 1e-6;
  return precision === 'bf16' ? 0.25 : 1e-4;
}

function checkRatio(deviation: number, update: number, tolerance: number): void {
  if (deviation <= tolerance) return;
  throw new WorkbenchError(
    'failure',
    `expected probability ratios of 1 before the first step, got a deviation of ${deviation}, at update ${update + 1}`,
    { hint: 'Sampling and training see different actions or weights: a custom head or environment is not consistent.' },
  );
}

function meansOf(figures: readonly Record<string, number>[]): Record<string, number> {
  const mean = (key: string) => figures.reduce((sum, one) => sum + one[key]! / figures.length, 0);
  return Object.fromEntries(Object.keys(figures[0]!).map((key) => [key, mean(key)]));
}

/** Linear warm-up, then constant or linear down to a share of the peak. */
export function learningRateAt(
  update: number,
  { learningRate, warmupUpdates, updates, lrDecay, finalLrShare }: PpoSettings,
): number {
  if (update < warmupUpdates) return (learningRate * (update + 1)) / warmupUpdates;
  if (lrDecay === 'none') return learningRate;
  const progress = (update - warmupUpdates) / Math.max(1, updates - warmupUpdates);
  return learningRate * (1 - (1 - finalLrShare) * progress);
}

/** Weight of the entropy bonus: constant, or linear from its setting at the first update towards 0 after the last. */
export function entropyCoefAt(update: number, { entropyCoef, entropyDecay, updates }: PpoSettings): number {
  return entropyDecay === 'none' ? entropyCoef : entropyCoef * (1 - update / updates);
}
