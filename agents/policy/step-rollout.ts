/**
 * Rollouts of a fixed number of steps in continuing environments: episodes carry over from one round to the next. One
 * column per kind of number and no object per step.
 */
import { actionLogProbs, type Actor, type ValueNetwork } from '../../trainers/actor.js';
import { maskOf, type PolicyShape, vectorOf, type VectorObservation, type VectorObservationEnv } from './spaces.js';
import { scaledBy } from './play.js';
import { readStatistics, statisticsTensors } from './policy.js';
import { WatchedEnv } from './watched-env.js';
import { type Checkpoint, optimizerPrefix } from '../../checkpoints/checkpoint.js';
import type { Normalizer } from '../../envs/wrappers/normalizer.js';
import { subSeed } from '../../src/run/seeds.js';
import { type ActionDraw, type Collect, valuesOf } from '../../trainers/rollout.js';
import { type Rollout, RolloutBuffer } from '../../trainers/rollout-buffer.js';
import type { ExtraState } from '../../trainers/session.js';
import { z } from 'zod';
import { WorkbenchError } from '../../src/run/errors.js';

type Saved = ReturnType<ExtraState['save']>;

const savedEpisodes = z.object({
  /** Per copy: number of its episode, and its steps so far. */
  numbers: z.array(z.int().min(0)),
  steps: z.array(z.int().min(0)),
  /** Return and length of the latest episodes. */
  recent: z.array(z.tuple([z.number(), z.int()])),
  /** Per copy: discounted return so far. */
  running: z.array(z.number()),
});
type EpisodesState = z.output<typeof savedEpisodes>;

/** Tensors needed only for training, like optimizer state. */
const names = {
  /** All actions of running episodes, concatenated by copy, int32. */
  actions: `${optimizerPrefix}episodes/actions`,
  /** Last observation of each copy, float32 [copies, inputs]. */
  shown: `${optimizerPrefix}episodes/shown`,
};

/** Saved episodes, checked; undefined for a checkpoint without episodes, such as the initial one of a fork. */
function episodesState(
  { trainer }: Checkpoint['header'],
  tensors: Checkpoint['tensors'],
  copies: number,
): (EpisodesState & { actions: Int32Array[]; shown: Float32Array[] }) | undefined {
  if (trainer.episodes === undefined) return undefined;
  const read = savedEpisodes.safeParse(trainer.episodes);
  const [actions, shown] = [tensors[names.actions]?.data, tensors[names.shown]?.data];
  const lists = read.data ? [read.data.numbers, read.data.steps, read.data.running] : [];
  const fits = read.success && lists.every(({ length }) => length === copies);
  const total = read.data?.steps.reduce((sum, steps) => sum + steps, 0);
  if (!fits || !(actions instanceof Int32Array) || !(shown instanceof Float32Array) || actions.length !== total) {
    throw new WorkbenchError('data', `expected running episodes of ${copies} copies in the checkpoint, got others`);
  }
  let end = 0;
  const inputs = shown.length / copies;
  return {
    ...read.data,
    actions: read.data.steps.map((steps) => actions.subarray(end, (end += steps))),
    shown: read.data.steps.map((_, copy) => shown.subarray(copy * inputs, (copy + 1) * inputs)),
  };
}

/** Environments, and the number of steps per round. */
export interface StepRolloutOptions {
  /** One per copy, not reset yet; closed by the caller. */
  envs: readonly VectorObservationEnv[];
  shape: PolicyShape;
  /** Steps of each copy per round. */
  numSteps: number;
  /** Steps per minibatch. */
  minibatchSize: number;
  /** Normalizer of observations and rewards. */
  normalizer?: Normalizer | undefined;
  /** Base seed of the episodes: the n-th of each copy has a separate seed. */
  seed: number;
  /** Called with a sentence about a running episode that could not be resumed. */
  onNote?: ((line: string) => void) | undefined;
}

/** Number of latest episodes over which mean return and length are logged. */
const recentEpisodes = 100;
/** Observations per forward pass of the critic. */
const valuedAtOnce = 8192;

/** Copies of an environment, with their observations and episode statistics. */
export class StepRollout {
  readonly #options: StepRolloutOptions;
  readonly #copies: readonly WatchedEnv[];
  readonly #numEnvs: number;
  readonly #capacity: number;
  /** Observations, one row per step and copy, all copies of a step consecutive; the rows after the last step are the next observations. */
  readonly #observations: readonly VectorObservation[];
  readonly #vectors: Float32Array;
  readonly #masks: Uint8Array;
  readonly #buffer: RolloutBuffer<unknown>;
  /** Per copy: number of its running episode, and its actions so far. */
  readonly #numbers: Int32Array;
  readonly #actions: number[][];
  /** Per copy: discounted return so far, by which rewards are scaled. */
  readonly #running: Float64Array;
  /** Return and length of the latest episodes. */
  #recent: [sum: number, steps: number][] = [];
  /** Makes the state between two rounds, later, too. */
  #between: (() => Saved) | undefined;

  constructor(options: StepRolloutOptions) {
    const { envs, shape, numSteps } = options;
    this.#options = options;
    this.#copies = envs.map((env, i) => new WatchedEnv(env, shape, `copy ${i}`));
    this.#numEnvs = envs.length;
    this.#capacity = numSteps * envs.length;
    const rows = this.#capacity + envs.length;
    this.#vectors = new Float32Array(rows * shape.inputs);
    this.#masks = new Uint8Array(shape.masked ? rows * shape.numActions : 0);
    this.#observations = Array.from({ length: rows }, (_, row) => {
      const observation = this.#vectors.subarray(row * shape.inputs, (row + 1) * shape.inputs);
      if (!shape.masked) return observation;
      return { observation, actionMask: this.#masks.subarray(row * shape.numActions, (row + 1) * shape.numActions) };
    });
    this.#buffer = new RolloutBuffer(this.#capacity);
    this.#buffer.fill();
    this.#numbers = new Int32Array(envs.length).fill(-1);
    this.#actions = envs.map(() => []);
    this.#running = new Float64Array(envs.length);
  }

  /** Collector for `ppo`. An observation kept by an actor is overwritten in the next round. */
  collect<Request>(): Collect<VectorObservation, Request> {
    return ({ actor, critic }) => {
      const states = this.#buffer.states as Request[];
      return async (_update, draw) => {
        this.#carryOver();
        const cut = await this.#walk(actor, states, draw);
        await this.#value(actor, critic, states, cut);
        this.#between = this.#stand();
        return this.#round<Request>();
      };
    };
  }

  /** Starts the first episodes, or moves the copies' last observations to the front. */
  #carryOver(): void {
    const { shape } = this.#options;
    if (this.#numbers[0] === -1) {
      for (let copy = 0; copy < this.#numEnvs; copy++) this.#beginNext(copy);
      this.#showAll(this.#capacity);
    }
    this.#vectors.copyWithin(0, this.#capacity * shape.inputs);
    if (shape.masked) this.#masks.copyWithin(0, this.#capacity * shape.numActions);
  }

  /** Takes every step. @returns rows whose episode was truncated, with the last observation */
  async #walk<Request>(
    actor: Actor<VectorObservation, Request>,
    states: Request[],
    draw: ActionDraw,
  ): Promise<Map<number, VectorObservation>> {
    const { normalizer } = this.#options;
    const { action, oldLogProb, reward, terminated, next } = this.#buffer.columns;
    const cut = new Map<number, VectorObservation>();
    for (let begin = 0; begin < this.#capacity; begin += this.#numEnvs) {
      const end = begin + this.#numEnvs;
      for (let row = begin; row < end; row++) states[row] = actor.requestOf(this.#observations[row]!);
      const { logProbs, offsets } = await actionLogProbs(actor, states.slice(begin, end));
      for (let copy = 0; copy < this.#numEnvs; copy++) {
        const row = begin + copy;
        const watched = this.#copies[copy]!;
        const index = draw(logProbs, offsets[copy]!, offsets[copy + 1]!);
        const taken = actor.envAction?.(states[row]!, index) ?? index;
        reward[row] = watched.step(taken);
        this.#actions[copy]!.push(taken);
        action[row] = index;
        oldLogProb[row] = logProbs[offsets[copy]! + index]!;
        terminated[row] = Number(watched.terminated);
        next[row] = watched.ended || end === this.#capacity ? -1 : row + this.#numEnvs;
      }
      if (normalizer?.returns) this.#scaleRewards(reward, begin);
      const last: [row: number, observation: VectorObservation][] = [];
      for (let copy = 0; copy < this.#numEnvs; copy++) {
        const watched = this.#copies[copy]!;
        if (!watched.ended) continue;
        // Copy: the environment may reuse its array.
        if (watched.truncated) last.push([begin + copy, copyOf(watched.observation)]);
        this.#recent.push([watched.sum, watched.steps]);
        this.#beginNext(copy);
      }
      this.#showAll(end);
      for (const [row, observation] of last) cut.set(row, this.#scaled(observation));
    }
    return cut;
  }

  #scaleRewards(reward: Float32Array, begin: number): void {
    const normalizer = this.#options.normalizer!;
    const running = this.#running;
    for (let copy = 0; copy < this.#numEnvs; copy++) {
      running[copy] = running[copy]! * normalizer.gamma + reward[begin + copy]!;
    }
    normalizer.returns!.add(Array.from(running, (sum) => [sum]));
    for (let copy = 0; copy < this.#numEnvs; copy++) {
      reward[begin + copy] = normalizer.reward(reward[begin + copy]!);
      if (this.#copies[copy]!.ended) running[copy] = 0;
    }
  }

  /** Critic's values of all states in one batch, and of the states after a cut by the round or the environment. */
  async #value<Request>(
    actor: Actor<VectorObservation, Request>,
    critic: ValueNetwork<Request> | undefined,
    states: readonly Request[],
    cut: ReadonlyMap<number, VectorObservation>,
  ): Promise<void> {
    const { oldValue, terminated, bootstrapValue } = this.#buffer.columns;
    oldValue.fill(0);
    bootstrapValue.fill(0);
    if (!critic) return;
    oldValue.set(await valuesOf(critic, states, valuedAtOnce));
    const last = this.#capacity - this.#numEnvs;
    const left = new Map(cut);
    for (let row = last; row < this.#capacity; row++) {
      if (!terminated[row] && !cut.has(row)) left.set(row, this.#observations[row + this.#numEnvs]!);
    }
    const after = Array.from(left.values(), (observation) => actor.requestOf(observation));
    const rest = await valuesOf(critic, after, valuedAtOnce);
    [...left.keys()].forEach((row, i) => (bootstrapValue[row] = rest[i]!));
  }

  #round<Request>(): Rollout<Request> {
    this.#recent = this.#recent.slice(-recentEpisodes);
    const count = this.#recent.length;
    const mean = (of: 0 | 1) => this.#recent.reduce((sum, episode) => sum + episode[of] / count, count > 0 ? 0 : NaN);
    const figures = { 'rollout/reward': mean(0), 'rollout/length': mean(1) };
    const { minibatchSize } = this.#options;
    return this.#buffer.round(figures, (rng) => this.#buffer.byRow(minibatchSize, rng)) as Rollout<Request>;
  }

  #beginNext(copy: number): void {
    const number = ++this.#numbers[copy]!;
    // Another list: the state between two rounds may hold the one before.
    this.#actions[copy] = [];
    this.#copies[copy]!.begin(episodeSeed(this.#options.seed, copy, number));
  }

  /** Counts the copies' observations in the statistics and writes them into the rows from `begin`. */
  #showAll(begin: number): void {
    this.#options.normalizer?.observations?.add(this.#copies.map(({ observation }) => vectorOf(observation)));
    for (let copy = 0; copy < this.#numEnvs; copy++) this.#show(begin + copy, copy);
  }

  /** Writes a copy's observation into a row. */
  #show(row: number, copy: number): void {
    const { shape } = this.#options;
    const { observation } = this.#copies[copy]!;
    this.#vectors.set(vectorOf(this.#scaled(observation)), row * shape.inputs);
    const mask = maskOf(observation);
    if (mask && shape.masked) this.#masks.set(mask, row * shape.numActions);
  }

  #scaled(observation: VectorObservation): VectorObservation {
    return scaledBy(this.#options.normalizer, observation);
  }

  #stand(): () => Saved {
    const { normalizer, shape } = this.#options;
    const lists = this.#actions.slice();
    const state: EpisodesState = {
      numbers: [...this.#numbers],
      steps: this.#actions.map(({ length }) => length),
      recent: this.#recent.slice(-recentEpisodes),
      running: [...this.#running],
    };
    const shown = new Float32Array(this.#numEnvs * shape.inputs);
    this.#copies.forEach(({ observation }, copy) => shown.set(vectorOf(observation), copy * shape.inputs));
    const statistics = statisticsTensors(normalizer);
    return () => {
      // Lists grow at their end alone.
      const actions = Int32Array.from(lists.flatMap((list, copy) => list.slice(0, state.steps[copy])));
      return {
        state: { episodes: state },
        tensors: {
          [names.actions]: { shape: [actions.length], data: actions },
          [names.shown]: { shape: [this.#numEnvs, shape.inputs], data: shown },
          ...statistics,
        },
      };
    };
  }

  /** Checkpoint state in addition to the weights: the state between two rounds. */
  save(): Saved {
    return this.#between?.() ?? { state: {}, tensors: { ...statisticsTensors(this.#options.normalizer) } };
  }

  /**
   * Restores the state of a checkpoint: running episodes are reset with their seed and their actions replayed. An episode whose
   * observation then differs (an environment that is not deterministic for a seed) is dropped; its copy starts the next one.
   */
  restore({ header, tensors }: Checkpoint): void {
    const { normalizer, seed, onNote } = this.#options;
    readStatistics(normalizer, tensors);
    const saved = episodesState(header, tensors, this.#numEnvs);
    if (!saved) return;
    this.#recent = saved.recent;
    this.#running.set(saved.running);
    saved.numbers.forEach((number, copy) => {
      const watched = this.#copies[copy]!;
      watched.begin(episodeSeed(seed, copy, number));
      for (const action of saved.actions[copy]!) if (!watched.ended) watched.step(action);
      this.#numbers[copy] = number;
      this.#actions[copy]!.push(...saved.actions[copy]!);
      const same = vectorOf(watched.observation).every((shown, i) => Object.is(shown, saved.shown[copy]![i]));
      if (!same || watched.ended) {
        onNote?.(
          `${watched.env.spec.id} is not equal for equal seeds and actions: copy ${copy} begins a new episode, and the run is not what it would have been unbroken`,
        );
        this.#running[copy] = 0;
        this.#beginNext(copy);
      }
      this.#show(this.#capacity + copy, copy);
    });
    this.#between = this.#stand();
  }
}

const copyOf = (observation: VectorObservation): VectorObservation =>
  observation instanceof Float32Array
    ? observation.slice()
    : { ...observation, observation: observation.observation.slice() };

/** Never negative: Gymnasium requires non-negative seeds. */
const episodeSeed = (seed: number, copy: number, number: number) => subSeed(seed, 'policy/episode', copy, number) >>> 0;
