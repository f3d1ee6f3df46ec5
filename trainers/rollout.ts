/** Rollouts of whole walks: each chosen sample is walked several times under the current policy. */
import { actionLogProbs, type ActionLogProbs, type Actor, type TaskRequest, type ValueNetwork } from './actor.js';
import type { BatchedEnv } from '../envs/vector-env.js';
import { Rng } from '../src/run/seeds.js';
import { sampleSegment } from '../src/nn/categorical.js';
import { type Rollout, RolloutBuffer } from './rollout-buffer.js';
import type { PpoSettings } from './ppo-settings.js';

/** Collector of experience for given networks; returns a function that collects the rounds in order. */
export type Collect<Observation, Request> = (who: {
  actor: Actor<Observation, Request>;
  critic: ValueNetwork<Request> | undefined;
  settings: PpoSettings;
  seed: number;
}) => (update: number, draw: ActionDraw) => Promise<Rollout<Request>>;

/**
 * Whole walks, each from its sample to its end.
 * @param envs `samplesPerUpdate` × `explorations` copies of an env over the train samples
 * @param walkable indices of the env's walkable samples
 */
export const wholeWalks =
  <Observation, Request extends TaskRequest>(
    envs: BatchedEnv<Observation>,
    walkable: Int32Array,
  ): Collect<Observation, Request> =>
  ({ actor, critic, settings, seed }) => {
    const { samplesPerUpdate, minibatchSamples, explorations } = settings;
    const buffer = new RolloutBuffer<Request>(samplesPerUpdate * explorations * envs.spec.maxSteps);
    const samplesOf = sampleOrder(walkable, samplesPerUpdate, seed);
    return async (update, draw) => {
      const walked = await collectRollouts(actor, critic, envs, buffer, samplesOf(update), explorations, draw);
      return buffer.round(
        { 'rollout/reward': walked.reward, 'rollout/hit_rate': walked.hits, 'rollout/length': walked.length },
        (rng) => buffer.bySample(minibatchSamples, rng),
      );
    };
  };

/**
 * Samples of each update: the train set in a new seeded order per pass, cut into equal parts. Caches the last pass's
 * order, since shuffling a large set takes longer than a rollout.
 * @param indices of the samples; must not change
 * @param count samples per update
 */
export function sampleOrder(indices: Int32Array, count: number, seed: number): (update: number) => number[] {
  let shuffled = -1;
  let order = indices;
  return (update) => {
    const chosen: number[] = [];
    for (let position = update * count; chosen.length < count; position++) {
      const pass = Math.floor(position / indices.length);
      if (pass !== shuffled) order = Rng.named(seed, 'ppo/order', pass).shuffle(indices.slice());
      shuffled = pass;
      chosen.push(order[position % indices.length]!);
    }
    return chosen;
  };
}

/**
 * Fills the buffer. States shared by several explorations are scored and stored once. An episode truncated by a custom
 * environment is bootstrapped by the critic; without a critic the rest counts as 0.
 * @param samples indices of the env's samples, each walked `explorations` times; `envs` needs that many copies
 * @returns means over the walks: undiscounted return, share that reached the gold, number of steps
 */
export async function collectRollouts<Observation, Request>(
  actor: Actor<Observation, Request>,
  critic: ValueNetwork<Request> | undefined,
  envs: BatchedEnv<Observation>,
  buffer: RolloutBuffer<Request>,
  samples: readonly number[],
  explorations: number,
  draw: ActionDraw,
): Promise<{ reward: number; hits: number; length: number }> {
  buffer.clear();
  const sampleOf = samples.flatMap((sample) => Array.from({ length: explorations }, () => sample));
  const walks = sampleOf.length;
  let { observations, live } = envs.reset({ options: sampleOf.map((sample) => ({ sample })) });
  const previous = new Int32Array(walks).fill(-1);
  const states = new Int32Array(walks).fill(-1);
  const places = new Int32Array(walks);
  const keyOf = stateKeys(actor, sampleOf, states, places);
  const sums = { reward: 0, hits: 0, steps: 0 };
  /** Network outputs for the new states of a step, the first of them at index `first`. */
  const scored: (ActionLogProbs & { first: number; values: Float32Array })[] = [];
  while (live.length > 0) {
    // Copy: the environment may reuse its array.
    const walking = live.slice();
    const known = buffer.states.length;
    for (const copy of walking) {
      const observation = observations[copy]!;
      states[copy] = buffer.stateIndex(keyOf(copy, observation), () => actor.requestOf(observation));
    }
    const fresh = buffer.states.slice(known);
    if (fresh.length > 0) {
      // The actor prepares states for both networks, whose outputs are then waited for together.
      await actor.prepare?.(fresh);
      const [own, values] = await Promise.all([
        actionLogProbs(actor, fresh),
        critic ? valuesOf(critic, fresh) : new Float32Array(fresh.length),
      ]);
      scored.push({ ...own, first: known, values });
    }
    // Index of a state of this step, or of an earlier one if the actor's keys show a revisit.
    const said = (state: number) => scored.findLast(({ first }) => first <= state)!;
    const actions = new Int32Array(walks);
    for (const copy of walking) {
      const state = states[copy]!;
      const { first, logProbs, offsets } = said(state);
      const place = draw(logProbs, offsets[state - first]!, offsets[state - first + 1]!);
      places[copy] = place;
      actions[copy] = actor.envAction?.(buffer.states[state]!, place) ?? place;
    }
    const step = envs.step(actions);
    for (const copy of walking) {
      const state = states[copy]!;
      const reward = step.rewards[copy]!;
      const { first, logProbs, offsets, values } = said(state);
      previous[copy] = buffer.add({
        state,
        sample: sampleOf[copy]!,
        action: places[copy]!,
        logProb: logProbs[offsets[state - first]! + places[copy]!]!,
        value: values[state - first]!,
        reward,
        terminated: step.terminated[copy] === 1,
        previous: previous[copy]!,
      });
      sums.reward += reward;
      sums.hits += Number(step.infos[copy]!.hit === true);
      sums.steps++;
    }
    const cut = walking.filter((copy) => step.truncated[copy] === 1);
    if (critic && cut.length > 0) {
      const left = Array.from(cut, (copy) => actor.requestOf(step.observations[copy]!));
      const rest = await valuesOf(critic, left);
      cut.forEach((copy, i) => buffer.truncate(previous[copy]!, rest[i]!));
    }
    ({ observations, live } = step);
  }
  return { reward: sums.reward / walks, hits: sums.hits / walks, length: sums.steps / walks };
}

/** Exceeds the length of any action list, so that state and position fit into one number. */
const maxPlaces = 2 ** 24;

/**
 * Keys for deduplicating the states of a rollout: the actor's own keys, or the previous state with the position of the chosen action.
 * @param states previous state of each walk, -1 at its beginning
 * @param places position of its last action
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

/** Critic's values. @param atOnce requests per forward pass */
export async function valuesOf<Request>(
  critic: ValueNetwork<Request>,
  requests: readonly Request[],
  atOnce = Infinity,
): Promise<Float32Array> {
  const values = new Float32Array(requests.length);
  for (let begin = 0; begin < requests.length; begin += atOnce) {
    values.set(
      await critic
        .values(requests.slice(begin, begin + atOnce))()
        .read(),
      begin,
    );
  }
  return values;
}

/** Draws one of the actions `begin .. end - 1`; returns its position among them. */
export type ActionDraw = (logProbs: Float32Array, begin: number, end: number) => number;

/** Weight of a dropped action: negligible if any action was kept, an equal share if none was. */
const droppedWeight = Number.EPSILON;

/**
 * Draws from the policy, with some actions dropped if given, so that walks do not all follow the first rewarded path.
 * Learning uses the policy's own log-probabilities either way.
 * @param rng draws the action
 * @param dropout drop probability of each action, in [0, 1), and its generator
 * @source Lin et al. 2018, arXiv:1808.10568, section 3.4
 */
export function actionDraw(rng: Rng, dropout?: { rate: number; rng: Rng }): ActionDraw {
  return dropout && dropout.rate > 0
    ? droppingDraw(rng, dropout.rate, dropout.rng)
    : (logProbs, begin, end) => sampleSegment(logProbs, begin, end, rng);
}

function droppingDraw(rng: Rng, rate: number, dropping: Rng): ActionDraw {
  const logKeep = Math.log1p(-rate);
  // Gaps between dropped actions are geometric: one draw per dropped action, not one per action.
  const kept = () => Math.floor(Math.log(1 - dropping.uniform()) / logKeep);
  let weights = new Float64Array(64);
  return (logProbs, begin, end) => {
    const count = end - begin;
    if (weights.length < count) weights = new Float64Array(2 * count);
    let total = 0;
    let dropped = kept();
    for (let i = 0; i < count; i++) {
      const drops = i === dropped;
      if (drops) dropped += 1 + kept();
      weights[i] = drops ? droppedWeight : Math.exp(logProbs[begin + i]!);
      total += weights[i]!;
    }
    let remaining = rng.uniform() * total;
    let last = 0;
    for (let i = 0; i < count; i++) {
      if (weights[i] === 0) continue;
      last = i;
      remaining -= weights[i]!;
      if (remaining < 0) break;
    }
    return last;
  };
}
