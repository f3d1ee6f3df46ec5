/** The buffer of a round, and rollouts of whole walks: each chosen sample is walked several times under the current policy. */
import { actionLogProbs, type ActionLogProbs, type Actor, type TaskRequest, type ValueNetwork } from './actor.js';
import type { BatchedEnv } from '../envs/vector-env.js';
import { WorkbenchError } from '../src/run/errors.js';
import { Rng } from '../src/run/seeds.js';
import { sampleSegment } from '../src/nn/categorical.js';
import type { Transitions } from './ppo-loss.js';
import type { Advantages, RolloutSteps } from './advantages.js';
import type { PpoSettings } from './ppo-settings.js';

/** Experience of one round; valid until the next round begins. */
export interface Rollout<Request> {
  /** Means over its walks or episodes, by metric name: `rollout/reward` … */
  figures: Record<string, number>;
  readonly rollout: RolloutSteps;
  /** States indexed by its transitions. */
  readonly states: readonly Request[];
  /** int32: sample of each transition, the group of `baseline: group-mean`. */
  readonly samples: Int32Array;
  setAdvantages(advantages: Advantages): void;
  /** One pass over all transitions, in a seeded order. */
  minibatches(rng: Rng): Iterable<Minibatch>;
}

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
 * Keys for deduplicating the states of a rollout: the actor's own keys, or the previous state with the position of
 * the chosen action.
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

/** One step of one episode. */
interface Step {
  /** Index of a deduplicated state, from `stateIndex`. */
  state: number;
  /** Walked sample; its explorations form its group. */
  sample: number;
  /** Index in the state's action list. */
  action: number;
  logProb: number;
  /** Critic's value of the state; 0 without a critic. */
  value: number;
  reward: number;
  terminated: boolean;
  /** Row of the episode's previous step, or -1 at its first. */
  previous: number;
}

/** Part of a buffer that goes through the policy in one batch. */
export interface Minibatch {
  /** int32: indices into `states`, distinct, in order of first use. */
  states: Int32Array;
  /** Copies, with `state` as index into the minibatch's `states`. */
  transitions: Transitions;
}

/** One column per numeric field of `Transitions`, under its name there; initially zeros. */
const columnsOf = (capacity: number) => ({
  state: new Int32Array(capacity),
  sample: new Int32Array(capacity),
  action: new Int32Array(capacity),
  oldLogProb: new Float32Array(capacity),
  oldValue: new Float32Array(capacity),
  reward: new Float32Array(capacity),
  next: new Int32Array(capacity),
  terminated: new Uint8Array(capacity),
  bootstrapValue: new Float32Array(capacity),
  advantage: new Float32Array(capacity),
  returns: new Float32Array(capacity),
});

/**
 * Transitions of a round in typed arrays, with their states: deduplicated ones of walks, added step by step, or one of each row of
 * environments that are stepped together, written into the columns. `clear` keeps the memory.
 */
export class RolloutBuffer<State> {
  readonly #capacity: number;
  readonly columns: ReturnType<typeof columnsOf>;
  readonly #stateIndices = new Map<string | number, number>();
  /** States by index. */
  readonly states: State[] = [];
  #length = 0;

  /** @param capacity maximum number of transitions: samples × explorations × horizon */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.columns = columnsOf(capacity);
  }

  /** Number of transitions. */
  get length(): number {
    return this.#length;
  }

  /** Counts every row as written, each with its state. */
  fill(): void {
    this.#length = this.#capacity;
  }

  /** The round that it holds. @param minibatches one pass over its transitions */
  round(figures: Record<string, number>, minibatches: Rollout<State>['minibatches']): Rollout<State> {
    const { rollout, states, samples } = this;
    const setAdvantages = (found: Advantages) => this.setAdvantages(found);
    return { figures, rollout, states, samples, setAdvantages, minibatches };
  }

  setAdvantages({ advantages, returns }: Advantages): void {
    this.columns.advantage.set(advantages);
    this.columns.returns.set(returns);
  }

  /** Columns needed for advantages; views. */
  get rollout(): RolloutSteps {
    const { reward, oldValue, next, terminated, bootstrapValue } = this.columns;
    return {
      rewards: reward.subarray(0, this.#length),
      values: oldValue.subarray(0, this.#length),
      next: next.subarray(0, this.#length),
      terminated: terminated.subarray(0, this.#length),
      bootstrapValues: bootstrapValue.subarray(0, this.#length),
    };
  }

  /** int32: sample of each transition; a view. */
  get samples(): Int32Array {
    return this.columns.sample.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.states.length = 0;
    this.#stateIndices.clear();
  }

  /**
   * Index of a deduplicated state.
   * @param key equal for equal states; covers everything that the policy's logits and the critic's value depend on
   * @param make called for a new key
   */
  stateIndex(key: string | number, make: () => State): number {
    let index = this.#stateIndices.get(key);
    if (index === undefined) {
      index = this.states.push(make()) - 1;
      this.#stateIndices.set(key, index);
    }
    return index;
  }

  /**
   * Appends a step and returns its row, to be passed as `previous` of the episode's next step.
   * @throws WorkbenchError `failure` beyond the capacity
   */
  add(step: Step): number {
    const row = this.#length;
    if (row === this.#capacity) {
      throw new WorkbenchError('failure', `expected at most ${row} transitions, got one more, at RolloutBuffer.add`);
    }
    const columns = this.columns;
    columns.state[row] = step.state;
    columns.sample[row] = step.sample;
    columns.action[row] = step.action;
    columns.oldLogProb[row] = step.logProb;
    columns.oldValue[row] = step.value;
    columns.reward[row] = step.reward;
    columns.terminated[row] = Number(step.terminated);
    columns.next[row] = -1;
    columns.bootstrapValue[row] = 0;
    if (step.previous >= 0) columns.next[step.previous] = row;
    this.#length++;
    return row;
  }

  /** Marks the episode that ends in `row` as truncated, with the critic's value of the next state. */
  truncate(row: number, bootstrapValue: number): void {
    this.columns.bootstrapValue[row] = bootstrapValue;
  }

  /**
   * Whole samples in a seeded order: all transitions of a sample are in one minibatch, so its shared states go through
   * the policy once.
   * @param minibatchSamples samples per minibatch; the last one may hold fewer
   */
  *bySample(minibatchSamples: number, rng: Rng): Generator<Minibatch> {
    const rowsOf = new Map<number, number[]>();
    for (const [row, sample] of this.samples.entries()) {
      const rows = rowsOf.get(sample);
      if (rows) rows.push(row);
      else rowsOf.set(sample, [row]);
    }
    const order = rng.shuffle(Int32Array.from(rowsOf.keys()));
    for (let begin = 0; begin < order.length; begin += minibatchSamples) {
      const samples = [...order.subarray(begin, begin + minibatchSamples)];
      yield this.#gather(samples.flatMap((sample) => rowsOf.get(sample)!));
    }
  }

  /** Rows in a seeded order, each with its own state. @param size transitions per minibatch; the last one may hold fewer */
  *byRow(size: number, rng: Rng): Generator<Minibatch> {
    const rows = Int32Array.from({ length: this.#length }, (_, row) => row);
    const order = rng.shuffle(rows.slice());
    const shuffled = pickTransitions(this.columns, order);
    for (let begin = 0; begin < order.length; begin += size) {
      const states = order.subarray(begin, begin + size);
      const part = <Column extends Int32Array | Float32Array>(column: Column) =>
        column.subarray(begin, begin + size) as Column;
      const transitions = {
        state: rows.subarray(0, states.length),
        action: part(shuffled.action),
        oldLogProb: part(shuffled.oldLogProb),
        oldValue: part(shuffled.oldValue),
        advantage: part(shuffled.advantage),
        returns: part(shuffled.returns),
      };
      yield { states, transitions };
    }
  }

  #gather(rows: readonly number[]): Minibatch {
    const transitions = pickTransitions(this.columns, rows);
    const local = new Map<number, number>();
    transitions.state.forEach((index, i) => {
      if (!local.has(index)) local.set(index, local.size);
      transitions.state[i] = local.get(index)!;
    });
    return { states: Int32Array.from(local.keys()), transitions };
  }
}

/** Copies of some transitions, in the order of `rows`. */
export function pickTransitions(
  { state, action, oldLogProb, oldValue, advantage, returns }: Transitions,
  rows: ArrayLike<number>,
): Transitions {
  return {
    state: pick(state, rows, new Int32Array(rows.length)),
    action: pick(action, rows, new Int32Array(rows.length)),
    oldLogProb: pick(oldLogProb, rows, new Float32Array(rows.length)),
    oldValue: pick(oldValue, rows, new Float32Array(rows.length)),
    advantage: pick(advantage, rows, new Float32Array(rows.length)),
    returns: pick(returns, rows, new Float32Array(rows.length)),
  };
}

/** Plain loop: `from` with a function takes many times as long. */
function pick<Column extends Int32Array | Float32Array>(column: Column, rows: ArrayLike<number>, into: Column): Column {
  for (let i = 0; i < rows.length; i++) into[i] = column[rows[i]!]!;
  return into;
}
