/** What a rollout collects, in typed arrays; states that several walks share are stored once. */
import { WorkbenchError } from '../../src/run/errors.js';
import type { Rng } from '../../src/run/seeds.js';
import type { Advantages, Rollout } from './advantages.js';
import type { Transitions } from './objective.js';

/** One step of one episode. */
export interface Transition {
  /** Index of a distinct state, from `stateIndex`. */
  state: number;
  /** Sample that is walked; the explorations of a sample form its group. */
  sample: number;
  /** Index in the state's action list. */
  action: number;
  logProb: number;
  /** Critic's value of the state; 0 without a critic. */
  value: number;
  reward: number;
  terminated: boolean;
  /** Row of the episode's step before this one, or -1 at its first. */
  previous: number;
}

/** Part of a buffer that goes through the policy at once. */
export interface Minibatch {
  /** int32: indices into `states`, distinct, in order of first use. */
  states: Int32Array;
  /** Copies, with `state` as index into this minibatch's `states`. */
  transitions: Transitions;
}

/** Filled once a round; `clear` makes it empty again without giving memory back. */
export class RolloutBuffer<State> {
  readonly #capacity: number;
  readonly #state: Int32Array;
  readonly #sample: Int32Array;
  readonly #action: Int32Array;
  readonly #logProb: Float32Array;
  readonly #value: Float32Array;
  readonly #reward: Float32Array;
  readonly #next: Int32Array;
  readonly #terminated: Uint8Array;
  readonly #bootstrapValue: Float32Array;
  readonly #advantage: Float32Array;
  readonly #returns: Float32Array;
  readonly #stateIndices = new Map<string | number, number>();
  /** The distinct states, by index. */
  readonly states: State[] = [];
  #length = 0;

  /** @param capacity most transitions it can hold: samples × explorations × horizon */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#state = new Int32Array(capacity);
    this.#sample = new Int32Array(capacity);
    this.#action = new Int32Array(capacity);
    this.#logProb = new Float32Array(capacity);
    this.#value = new Float32Array(capacity);
    this.#reward = new Float32Array(capacity);
    this.#next = new Int32Array(capacity);
    this.#terminated = new Uint8Array(capacity);
    this.#bootstrapValue = new Float32Array(capacity);
    this.#advantage = new Float32Array(capacity);
    this.#returns = new Float32Array(capacity);
  }

  /** Number of transitions. */
  get length(): number {
    return this.#length;
  }

  /** The columns that advantages are made from; views. */
  get rollout(): Rollout {
    return {
      rewards: this.#reward.subarray(0, this.#length),
      values: this.#value.subarray(0, this.#length),
      next: this.#next.subarray(0, this.#length),
      terminated: this.#terminated.subarray(0, this.#length),
      bootstrapValues: this.#bootstrapValue.subarray(0, this.#length),
    };
  }

  /** int32: sample of each transition; a view. */
  get samples(): Int32Array {
    return this.#sample.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.states.length = 0;
    this.#stateIndices.clear();
  }

  /**
   * Index of a distinct state.
   * @param key equal for equal states: whatever the policy's logits and the critic's value depend on
   * @param make called for a key that is new
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
  add(step: Transition): number {
    const row = this.#length;
    if (row === this.#capacity) {
      throw new WorkbenchError('failure', `expected at most ${row} transitions, got one more, at RolloutBuffer.add`);
    }
    this.#state[row] = step.state;
    this.#sample[row] = step.sample;
    this.#action[row] = step.action;
    this.#logProb[row] = step.logProb;
    this.#value[row] = step.value;
    this.#reward[row] = step.reward;
    this.#terminated[row] = Number(step.terminated);
    this.#next[row] = -1;
    this.#bootstrapValue[row] = 0;
    if (step.previous >= 0) this.#next[step.previous] = row;
    this.#length++;
    return row;
  }

  /** Marks the episode that ends in `row` as cut, with the critic's value of the state that follows. */
  truncate(row: number, bootstrapValue: number): void {
    this.#bootstrapValue[row] = bootstrapValue;
  }

  setAdvantages({ advantages, returns }: Advantages): void {
    this.#advantage.set(advantages);
    this.#returns.set(returns);
  }

  /**
   * Whole samples in a seeded order: all transitions of a sample are in one minibatch, so its shared states go through
   * the policy once.
   * @param minibatchSamples samples a minibatch; the last one may hold fewer
   */
  *minibatches(minibatchSamples: number, rng: Rng): Generator<Minibatch> {
    const rowsOf = new Map<number, number[]>();
    for (let row = 0; row < this.#length; row++) {
      const rows = rowsOf.get(this.#sample[row]!);
      if (rows) rows.push(row);
      else rowsOf.set(this.#sample[row]!, [row]);
    }
    const order = rng.shuffle(Int32Array.from(rowsOf.keys()));
    for (let begin = 0; begin < order.length; begin += minibatchSamples) {
      const samples = [...order.subarray(begin, begin + minibatchSamples)];
      yield this.#gather(samples.flatMap((sample) => rowsOf.get(sample)!));
    }
  }

  #gather(rows: readonly number[]): Minibatch {
    const local = new Map<number, number>();
    const state = new Int32Array(rows.length);
    for (let i = 0; i < rows.length; i++) {
      const index = this.#state[rows[i]!]!;
      let at = local.get(index);
      if (at === undefined) local.set(index, (at = local.size));
      state[i] = at;
    }
    return {
      states: Int32Array.from(local.keys()),
      transitions: {
        state,
        action: pick(this.#action, rows, new Int32Array(rows.length)),
        oldLogProb: pick(this.#logProb, rows, new Float32Array(rows.length)),
        oldValue: pick(this.#value, rows, new Float32Array(rows.length)),
        advantage: pick(this.#advantage, rows, new Float32Array(rows.length)),
        returns: pick(this.#returns, rows, new Float32Array(rows.length)),
      },
    };
  }
}

/** Some values of a column, in the order of `rows`. A loop: `from` with a function takes many times as long. */
function pick<Column extends Int32Array | Float32Array>(column: Column, rows: readonly number[], into: Column): Column {
  for (let i = 0; i < rows.length; i++) into[i] = column[rows[i]!]!;
  return into;
}
