/** Many copies of one environment, stepped together. */
import { WorkbenchError } from '../src/run/errors.js';
import { type Env, type EnvSpec, type ResetResult, ResetNeeded } from './env.js';
import type { Space } from './spaces.js';

/**
 * What happens to a copy whose episode ended: `disabled`, it waits for the next `reset` (rollout collectors count on
 * that); `nextStep`, the next `step` ignores its action and resets it, with reward 0; `sameStep`, it is reset in the step
 that ended it: its observation is the next episode's first, `info.final` holds the last one and its info.
 */
export type Autoreset = 'disabled' | 'nextStep' | 'sameStep';

/** Options of `reset` for all copies. */
export interface VectorReset {
  /** Base seed: copy `i` gets `seed + i`. Without it every copy's stream continues. */
  seed?: number;
  /** Options of each copy, such as which sample; its length is how many copies take part. Default: all, no options. */
  options?: readonly Record<string, unknown>[];
}

/** Result of a step in each copy. */
export interface VectorStep<Observation> {
  /** One a copy; after an episode's end its last observation. */
  observations: readonly Observation[];
  /** float64 [numActive]; 0 for copies that did not step. */
  rewards: Float64Array;
  /** uint8 [numActive]: 1 where the episode ended in this step. */
  terminated: Uint8Array;
  /** uint8 [numActive]: 1 where the episode was cut in this step. */
  truncated: Uint8Array;
  /** int32: the copies that await an action, ascending. Empty when all episodes are over. */
  live: Int32Array;
  infos: readonly Record<string, unknown>[];
}

/** Observations of all copies side by side: the environment's own arrays, changed by every step. */
export interface ObservationColumns {
  /** Room for a copy's actions in `masks`. */
  maxActions: number;
  /** int32 [numEnvs]: length of each action list. */
  counts: Int32Array;
  /** uint8 [numEnvs, maxActions], 1 = legal; zeros behind a list's end. */
  masks: Uint8Array;
  /** [numEnvs, width] by field of the observation; fields that are not of one width for all copies are not here. */
  fields: Readonly<Record<string, Int32Array | Float32Array>>;
}

/** Copies of an environment as collectors see them: stepped one by one (`VectorEnv`), or together over columns. */
export interface BatchedEnv<Observation, Action = number> {
  readonly spec: EnvSpec;
  readonly actionSpace: Space<Action>;
  /** Spaces of one copy. */
  readonly observationSpace: Space<Observation>;
  /** Most copies that can take part. */
  readonly numEnvs: number;
  /** Set if the copies' observations are stored in one batch; `observations` hold the same. */
  readonly columns?: ObservationColumns;
  /** @throws WorkbenchError `usage` for more options than copies */
  reset(options?: VectorReset): VectorStep<Observation>;
  /** @param actions one per copy; values of copies that are not live are ignored */
  step(actions: ArrayLike<Action>): VectorStep<Observation>;
  close(): void;
}

/** Batched `Env`. A step costs the copies' steps and O(copies) bookkeeping; the arrays it returns are new each time. */
export class VectorEnv<Observation, Action = number> implements BatchedEnv<Observation, Action> {
  readonly spec: EnvSpec;
  readonly actionSpace: Space<Action>;
  readonly observationSpace: Space<Observation>;
  readonly numEnvs: number;
  readonly #envs: readonly Env<Observation, Action>[];
  readonly #autoreset: Autoreset;
  #running = new Uint8Array(0);
  #observations: Observation[] = [];
  #infos: Record<string, unknown>[] = [];

  /** @param envs at least one; all of one kind */
  constructor(envs: readonly Env<Observation, Action>[], autoreset: Autoreset = 'disabled') {
    if (envs.length === 0)
      throw new WorkbenchError('usage', 'expected at least one environment, got none, at VectorEnv');
    this.#envs = envs;
    this.#autoreset = autoreset;
    this.numEnvs = envs.length;
    const [{ spec, actionSpace, observationSpace }] = envs as [Env<Observation, Action>];
    this.spec = spec;
    this.actionSpace = actionSpace;
    this.observationSpace = observationSpace;
  }

  /** @throws WorkbenchError `usage` for more options than copies */
  reset({ seed, options }: VectorReset = {}): VectorStep<Observation> {
    const count = options?.length ?? this.numEnvs;
    if (count > this.numEnvs) {
      throw new WorkbenchError('usage', `expected options for at most ${this.numEnvs} copies, got ${count}, at reset`);
    }
    this.#observations = new Array(count);
    this.#infos = new Array(count);
    this.#running = new Uint8Array(count);
    for (let i = 0; i < count; i++) {
      const one = options && { options: options[i]! };
      this.#begin(i, this.#envs[i]!.reset({ ...one, ...(seed !== undefined && { seed: seed + i }) }));
    }
    return this.#result(new Float64Array(count), new Uint8Array(count), new Uint8Array(count));
  }

  /** @param actions one per copy, such as an int32 array; values of copies that are not live are ignored */
  step(actions: ArrayLike<Action>): VectorStep<Observation> {
    const count = this.#running.length;
    if (actions.length !== count) {
      throw new WorkbenchError('usage', `expected ${count} actions, got ${actions.length}, at step of ${this.spec.id}`);
    }
    const rewards = new Float64Array(count);
    const terminated = new Uint8Array(count);
    const truncated = new Uint8Array(count);
    for (let i = 0; i < count; i++) {
      if (!this.#running[i]) {
        if (this.#autoreset === 'nextStep') this.#begin(i, this.#envs[i]!.reset());
        continue;
      }
      const result = this.#envs[i]!.step(actions[i]!);
      this.#observations[i] = result.observation;
      this.#infos[i] = result.info;
      rewards[i] = result.reward;
      terminated[i] = Number(result.terminated);
      truncated[i] = Number(result.truncated);
      this.#running[i] = Number(!result.terminated && !result.truncated);
      if (!this.#running[i] && this.#autoreset === 'sameStep') {
        this.#begin(i, this.#envs[i]!.reset());
        this.#infos[i]!.final = { observation: result.observation, info: result.info };
      }
    }
    return this.#result(rewards, terminated, truncated);
  }

  close(): void {
    for (const env of this.#envs) env.close();
  }

  #begin(i: number, { observation, info }: ResetResult<Observation>) {
    this.#observations[i] = observation;
    this.#infos[i] = info;
    // A start without a legal action is over before it began.
    this.#running[i] = Number(info.done !== true);
  }

  #result(rewards: Float64Array, terminated: Uint8Array, truncated: Uint8Array): VectorStep<Observation> {
    const live = new Int32Array(this.#running.length);
    let count = 0;
    for (let i = 0; i < live.length; i++) if (this.#running[i] || this.#autoreset === 'nextStep') live[count++] = i;
    return {
      observations: this.#observations.slice(),
      infos: this.#infos.slice(),
      rewards,
      terminated,
      truncated,
      live: live.subarray(0, count),
    };
  }
}

/** `info.episode` of the step that ended an episode. */
export interface EpisodeStatistics {
  /** Undiscounted sum of the rewards from the environment. */
  return: number;
  /** Steps. */
  length: number;
}

/**
 * The same environment, with `info.episode` in the step that ends an episode. Wrap the environment before rewards are
 * normalised, so that true returns are reported.
 */
export function recordEpisodeStatistics<Observation, Action = number>(
  env: Env<Observation, Action>,
): Env<Observation, Action> {
  let sum = 0;
  let length = 0;
  return {
    spec: env.spec,
    actionSpace: env.actionSpace,
    observationSpace: env.observationSpace,
    reset(options) {
      const result = env.reset(options);
      sum = 0;
      length = 0;
      return result;
    },
    step(action) {
      const result = env.step(action);
      sum += result.reward;
      length++;
      if (!result.terminated && !result.truncated) return result;
      const episode: EpisodeStatistics = { return: sum, length };
      return { ...result, info: { ...result.info, episode } };
    },
    render: () => env.render(),
    close: () => env.close(),
  };
}

/**
 * The same environment, whose episodes are cut after a number of steps: `truncated`, unless the step ended the task anyway.
 * @param maxSteps at least 1; becomes `spec.maxSteps`
 */
export function timeLimit<Observation, Action = number>(
  env: Env<Observation, Action>,
  maxSteps: number,
): Env<Observation, Action> {
  if (!Number.isInteger(maxSteps) || maxSteps < 1)
    throw new RangeError(`expected at least 1 step, got ${maxSteps}, at timeLimit`);
  const { id } = env.spec;
  let steps = 0;
  let cut = false;
  return {
    spec: { ...env.spec, maxSteps },
    actionSpace: env.actionSpace,
    observationSpace: env.observationSpace,
    reset(options) {
      const result = env.reset(options);
      steps = 0;
      cut = false;
      return result;
    },
    step(action) {
      if (cut) throw new ResetNeeded(id);
      const result = env.step(action);
      steps++;
      cut = steps >= maxSteps && !result.terminated;
      if (!cut || result.truncated) return result;
      return { ...result, truncated: true };
    },
    render: () => env.render(),
    close: () => env.close(),
  };
}
