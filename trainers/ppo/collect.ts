/** One round of experience: every chosen sample is walked several times under the present policy. */
import type { Actor, ValueNetwork } from '../../agents/actor.js';
import type { BatchedEnv } from '../../envs/vector-env.js';
import type { ActionDraw } from './action-draw.js';
import type { RolloutBuffer } from './rollout-buffer.js';

/** Means over the walks of a round, and its steps. */
export interface RolloutFigures {
  /** Mean return of a walk, undiscounted. */
  reward: number;
  /** Share of walks that hit their gold. */
  hits: number;
  /** Mean steps of a walk. */
  length: number;
  steps: number;
}

/**
 * Fills the buffer. States that several explorations share are scored and stored once. An episode that a custom
 * environment truncates is bootstrapped by the critic; without one its rest counts as 0.
 * @param samples indices of the env's samples, each walked `explorations` times; `envs` needs that many copies
 */
export async function collectRollouts<Observation, Request>(
  actor: Actor<Observation, Request>,
  critic: ValueNetwork<Request> | undefined,
  envs: BatchedEnv<Observation>,
  buffer: RolloutBuffer<Request>,
  samples: readonly number[],
  explorations: number,
  draw: ActionDraw,
): Promise<RolloutFigures> {
  buffer.clear();
  const sampleOf = samples.flatMap((sample) => Array.from({ length: explorations }, () => sample));
  let { observations, live } = envs.reset({ options: sampleOf.map((sample) => ({ sample })) });
  const previous = new Int32Array(sampleOf.length).fill(-1);
  const figures = { reward: 0, hits: 0, length: 0, steps: 0 };
  while (live.length > 0) {
    const known = buffer.states.length;
    const stateOf = Array.from(live, (copy) => {
      const observation = observations[copy]!;
      const key = `${sampleOf[copy]}:${actor.stateKey(observation)}`;
      return buffer.stateIndex(key, () => actor.requestOf(observation));
    });
    const fresh = buffer.states.slice(known);
    const { logProbs, offsets } = await actor.actionLogProbs(fresh);
    const values = critic ? await valuesOf(critic, fresh) : new Float32Array(fresh.length);
    const actions = new Int32Array(sampleOf.length);
    const rows = stateOf.map((state, i) => {
      const copy = live[i]!;
      const begin = offsets[state - known]!;
      const action = draw(logProbs, begin, offsets[state - known + 1]!);
      actions[copy] = actor.envAction?.(buffer.states[state]!, action) ?? action;
      const transition = {
        state,
        sample: sampleOf[copy]!,
        action,
        logProb: logProbs[begin + action]!,
        value: values[state - known]!,
      };
      return { copy, transition };
    });
    const step = envs.step(actions);
    for (const { copy, transition } of rows) {
      const reward = step.rewards[copy]!;
      previous[copy] = buffer.add({
        ...transition,
        reward,
        terminated: step.terminated[copy] === 1,
        previous: previous[copy]!,
      });
      figures.reward += reward;
      figures.hits += Number(step.infos[copy]!.hit === true);
      figures.steps++;
    }
    const cut = rows.filter(({ copy }) => step.truncated[copy] === 1).map(({ copy }) => copy);
    if (critic && cut.length > 0) {
      const rest = await valuesOf(
        critic,
        cut.map((copy) => actor.requestOf(step.observations[copy]!)),
      );
      cut.forEach((copy, i) => buffer.truncate(previous[copy]!, rest[i]!));
    }
    ({ observations, live } = step);
  }
  const walks = sampleOf.length;
  return {
    reward: figures.reward / walks,
    hits: figures.hits / walks,
    length: figures.steps / walks,
    steps: figures.steps,
  };
}

function valuesOf<Request>(critic: ValueNetwork<Request>, requests: readonly Request[]): Promise<Float32Array> {
  return critic.parameters.read(critic.values(requests));
}
