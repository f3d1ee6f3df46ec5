/** An end from outside for episodes that may last for ever. */
import { type Env, ResetNeeded } from '../env.js';

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
