/** One round of experience: every chosen sample is walked several times under the present policy. */
import { actionLogProbs, type Actor, type ValueNetwork } from '../../agents/actor.js';
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
  const walks = sampleOf.length;
  let { observations, live } = envs.reset({ options: sampleOf.map((sample) => ({ sample })) });
  const previous = new Int32Array(walks).fill(-1);
  const states = new Int32Array(walks).fill(-1);
  const places = new Int32Array(walks);
  const keyOf = stateKeys(actor, sampleOf, states, places);
  const figures = { reward: 0, hits: 0, length: 0, steps: 0 };
  while (live.length > 0) {
    // The environment may write over its own.
    const walking = live.slice();
    const known = buffer.states.length;
    for (const copy of walking) {
      const observation = observations[copy]!;
      states[copy] = buffer.stateIndex(keyOf(copy, observation), () => actor.requestOf(observation));
    }
    const fresh = buffer.states.slice(known);
    const { logProbs, offsets } = await actionLogProbs(actor, fresh);
    const values = critic ? await valuesOf(critic, fresh) : new Float32Array(fresh.length);
    const actions = new Int32Array(walks);
    for (const copy of walking) {
      const state = states[copy]!;
      const place = draw(logProbs, offsets[state - known]!, offsets[state - known + 1]!);
      places[copy] = place;
      actions[copy] = actor.envAction?.(buffer.states[state]!, place) ?? place;
    }
    const step = envs.step(actions);
    for (const copy of walking) {
      const state = states[copy]!;
      const reward = step.rewards[copy]!;
      previous[copy] = buffer.add({
        state,
        sample: sampleOf[copy]!,
        action: places[copy]!,
        logProb: logProbs[offsets[state - known]! + places[copy]!]!,
        value: values[state - known]!,
        reward,
        terminated: step.terminated[copy] === 1,
        previous: previous[copy]!,
      });
      figures.reward += reward;
      figures.hits += Number(step.infos[copy]!.hit === true);
      figures.steps++;
    }
    const cut = walking.filter((copy) => step.truncated[copy] === 1);
    if (critic && cut.length > 0) {
      const left = Array.from(cut, (copy) => actor.requestOf(step.observations[copy]!));
      const rest = await valuesOf(critic, left);
      cut.forEach((copy, i) => buffer.truncate(previous[copy]!, rest[i]!));
    }
    ({ observations, live } = step);
  }
  return {
    reward: figures.reward / walks,
    hits: figures.hits / walks,
    length: figures.steps / walks,
    steps: figures.steps,
  };
}

/** More places than a list of actions has: a state and a place in its list are one number. */
const maxPlaces = 2 ** 24;

/**
 * What tells the states of a round apart: the actor's own keys, or the state before with the place that was taken there.
 * @param states the state that each walk was in last, -1 at its beginning
 * @param places what it did there
 */
function stateKeys<Observation>(
  actor: Pick<Actor<Observation, never>, 'stateKey'>,
  sampleOf: readonly number[],
  states: Int32Array,
  places: Int32Array,
): (copy: number, observation: Observation) => string | number {
  if (actor.stateKey) return (copy, observation) => `${sampleOf[copy]}:${actor.stateKey!(observation)}`;
  return (copy) => (states[copy]! < 0 ? -1 - sampleOf[copy]! : states[copy]! * maxPlaces + places[copy]!);
}

function valuesOf<Request>(critic: ValueNetwork<Request>, requests: readonly Request[]): Promise<Float32Array> {
  return critic.parameters.read(critic.values(requests));
}
