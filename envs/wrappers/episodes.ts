/** Episodes of another environment: their return and length at the end, and a limit of their length. */
import { type Env, ResetNeeded } from '../env.js';

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
