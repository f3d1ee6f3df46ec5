/** Return and length of an episode, reported at its end. */
import type { Env } from '../env.js';

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
