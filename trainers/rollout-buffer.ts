/** Buffer of a round's transitions, and its minibatches. */
import { WorkbenchError } from '../src/run/errors.js';
import type { Rng } from '../src/run/seeds.js';
import type { Advantages, RolloutSteps } from './advantages.js';
import type { Transitions } from './ppo-loss.js';

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
   * Whole samples in a seeded order: all transitions of a sample are in one minibatch, so its shared states go through the policy once.
   * @param minibatchSamples samples per minibatch; the last one may hold fewer
   */
  *bySample(minibatchSamples: number, rng: Rng): Generator<Minibatch> {
    const rowsOf = Map.groupBy(this.samples.keys(), (row) => this.samples[row]!);
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
export const pickTransitions = (
  { state, action, oldLogProb, oldValue, advantage, returns }: Transitions,
  rows: ArrayLike<number>,
): Transitions => ({
  state: pick(state, rows, new Int32Array(rows.length)),
  action: pick(action, rows, new Int32Array(rows.length)),
  oldLogProb: pick(oldLogProb, rows, new Float32Array(rows.length)),
  oldValue: pick(oldValue, rows, new Float32Array(rows.length)),
  advantage: pick(advantage, rows, new Float32Array(rows.length)),
  returns: pick(returns, rows, new Float32Array(rows.length)),
});

/** Plain loop: `from` with a function takes many times as long. */
function pick<Column extends Int32Array | Float32Array>(column: Column, rows: ArrayLike<number>, into: Column): Column {
  for (let i = 0; i < rows.length; i++) into[i] = column[rows[i]!]!;
  return into;
}
