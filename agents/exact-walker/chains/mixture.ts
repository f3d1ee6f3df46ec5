/**
 * Policy over the chains of a query relation, trained by the exact likelihood of the answer.
 *
 * π = softmax(θ) S = Σ_p π_p f_p(t) M = Σ_p π_p m_p loss = log(M + ε) − log(S + ε) ∂loss/∂θ_p = π_p (g_p − Σ_k π_k g_k) g_p = m_p / (M +
 * ε) − f_p(t) / (S + ε)
 *
 * f_p(t): probability that a walk along p ends on the answer; m_p: on any entity but other known answers (listwise, filtered, over all
 * entities). Nothing is sampled. PPO and REINFORCE estimate S, whose gradient nearly vanishes for hard queries; the gradient of log S
 * weighs all queries alike. The other objectives (S itself, exact or sampled) are there for comparison.
 */
import type { Rng } from '../../../src/run/seeds.js';
import type { ChainSettings } from '../settings.js';

/** End probabilities of some queries of one relation by chain; the last column is the prior. */
export interface MixtureTable {
  queries: number;
  /** Chains and the prior. */
  columns: number;
  /** float32 [queries, columns]: f_p(t) */
  answer: Float32Array;
  /** float32 [queries, columns]: m_p */
  free: Float32Array;
}

/** Training options. */
export type MixtureOptions = Pick<
  ChainSettings,
  'objective' | 'steps' | 'batchSize' | 'learningRate' | 'walks' | 'epochs' | 'clipRange'
>;

const epsilon = 1e-7;

/** @param pi output, float64 [columns]: softmax(θ) */
export function mixtureOf(theta: Float64Array, pi: Float64Array): void {
  let most = -Infinity;
  for (const value of theta) most = Math.max(most, value);
  let sum = 0;
  for (let p = 0; p < theta.length; p++) sum += pi[p] = Math.exp(theta[p]! - most);
  for (let p = 0; p < theta.length; p++) pi[p]! /= sum;
}

/** Loss of one query. @param pi softmax(θ) @param grad float64 [columns]: ∂loss/∂θ is added; undefined: loss only */
export function mixtureLoss(
  { columns, answer, free }: MixtureTable,
  query: number,
  pi: Float64Array,
  grad?: Float64Array,
): number {
  const base = query * columns;
  let [right, mass] = [0, 0];
  for (let p = 0; p < columns; p++) {
    right += pi[p]! * answer[base + p]!;
    mass += pi[p]! * free[base + p]!;
  }
  const loss = Math.log(mass + epsilon) - Math.log(right + epsilon);
  if (!grad) return loss;
  // Σ π g in closed form.
  const mean = mass / (mass + epsilon) - right / (right + epsilon);
  for (let p = 0; p < columns; p++) {
    const own = free[base + p]! / (mass + epsilon) - answer[base + p]! / (right + epsilon);
    grad[p]! += pi[p]! * (own - mean);
  }
  return loss;
}

/** Mean over all queries. */
export function meanLoss(table: MixtureTable, theta: Float64Array): number {
  const pi = new Float64Array(theta.length);
  mixtureOf(theta, pi);
  let sum = 0;
  for (let query = 0; query < table.queries; query++) sum += mixtureLoss(table, query, pi);
  return sum / Math.max(table.queries, 1);
}

/** Minimises the mean loss of batches by Adam; each query once per pass. @param theta initial values; modified */
export async function fitMixture(
  table: MixtureTable,
  theta: Float64Array,
  options: MixtureOptions,
  rng: Rng,
  pause: () => Promise<void>,
): Promise<void> {
  const { queries, columns } = table;
  if (queries === 0) return;
  const { steps, objective, learningRate } = options;
  const passes = objective === 'ppo' ? options.epochs : 1;
  const descend = adam(theta, steps * passes, learningRate);
  const [pi, grad] = [new Float64Array(columns), new Float64Array(columns)];
  const order = Int32Array.from({ length: queries }, (_, i) => i);
  const batch = new Int32Array(Math.min(options.batchSize, queries));
  const walks = new SampledWalks(table, options);
  let next = queries;
  for (let step = 0; step < steps; step++) {
    for (let i = 0; i < batch.length; i++) {
      if (next === queries) {
        rng.shuffle(order);
        next = 0;
      }
      batch[i] = order[next++]!;
    }
    for (let pass = 0; pass < passes; pass++) {
      mixtureOf(theta, pi);
      if (pass === 0 && (objective === 'ppo' || objective === 'reinforce')) walks.draw(batch, pi, rng);
      grad.fill(0);
      if (objective === 'likelihood') for (const query of batch) mixtureLoss(table, query, pi, grad);
      else if (objective === 'expected-reward') for (const query of batch) rewardGrad(table, query, pi, grad);
      else walks.grad(pi, grad);
      descend(grad, batch.length);
    }
    await pause();
  }
}

function rewardGrad({ columns, answer }: MixtureTable, query: number, pi: Float64Array, grad: Float64Array): void {
  const base = query * columns;
  let reward = 0;
  for (let p = 0; p < columns; p++) reward += pi[p]! * answer[base + p]!;
  for (let p = 0; p < columns; p++) grad[p]! -= pi[p]! * (answer[base + p]! - reward);
}

/**
 * Sampled walks: a chain drawn by π, reward 1 if the walk along it ends on the answer. The baseline is the mean of the query's other
 * walks.
 * @source Williams 1992; Schulman et al. 2017, "Proximal policy optimization algorithms", eq. 7
 */
class SampledWalks {
  readonly #table: MixtureTable;
  readonly #options: MixtureOptions;
  /** float64 [columns]: sums of positive and of negative advantages per chain. */
  readonly #better: Float64Array;
  readonly #worse: Float64Array;
  /** float64 [columns]: π at sampling time, and its cumulative sum. */
  readonly #old: Float64Array;
  readonly #sums: Float64Array;
  readonly #chains: Int32Array;
  readonly #rewards: Uint8Array;

  constructor(table: MixtureTable, options: MixtureOptions) {
    this.#table = table;
    this.#options = options;
    const { columns } = table;
    [this.#better, this.#worse] = [new Float64Array(columns), new Float64Array(columns)];
    [this.#old, this.#sums] = [new Float64Array(columns), new Float64Array(columns)];
    this.#chains = new Int32Array(options.walks);
    this.#rewards = new Uint8Array(options.walks);
  }

  draw(batch: Int32Array, pi: Float64Array, rng: Rng): void {
    const { columns, answer } = this.#table;
    const { walks } = this.#options;
    const [better, worse, sums, chains, rewards] = [this.#better, this.#worse, this.#sums, this.#chains, this.#rewards];
    this.#old.set(pi);
    better.fill(0);
    worse.fill(0);
    let sum = 0;
    for (let p = 0; p < columns; p++) sums[p] = sum += pi[p]!;
    for (const query of batch) {
      let hits = 0;
      for (let walk = 0; walk < walks; walk++) {
        const chain = firstAbove(sums, rng.uniform() * sum);
        chains[walk] = chain;
        hits += rewards[walk] = Number(rng.uniform() < answer[query * columns + chain]!);
      }
      for (let walk = 0; walk < walks; walk++) {
        const advantage = (rewards[walk]! - (hits - rewards[walk]!) / (walks - 1)) / walks;
        const side = advantage > 0 ? better : worse;
        side[chains[walk]!]! += advantage;
      }
    }
  }

  grad(pi: Float64Array, grad: Float64Array): void {
    const { objective, clipRange } = this.#options;
    const [better, worse, old] = [this.#better, this.#worse, this.#old];
    let total = 0;
    for (let p = 0; p < grad.length; p++) {
      const ratio = objective === 'ppo' ? pi[p]! / old[p]! : 1;
      // A clipped ratio has no gradient.
      const up = ratio > 1 + clipRange ? 0 : ratio * better[p]!;
      const down = ratio < 1 - clipRange ? 0 : ratio * worse[p]!;
      if (better[p] === 0 && worse[p] === 0) continue;
      grad[p]! -= up + down;
      total += up + down;
    }
    for (let p = 0; p < grad.length; p++) grad[p]! += pi[p]! * total;
  }
}

/** First index whose cumulative sum exceeds `value`, else the last. */
function firstAbove(sums: Float64Array, value: number): number {
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

function adam(theta: Float64Array, steps: number, learningRate: number) {
  const [beta1, beta2] = [0.9, 0.999];
  const [first, second] = [new Float64Array(theta.length), new Float64Array(theta.length)];
  let step = 0;
  return (grad: Float64Array, count: number) => {
    const rate = (learningRate * (1 - step / steps)) / (1 - beta1 ** (step + 1));
    const spread = 1 / (1 - beta2 ** (step + 1));
    step++;
    for (let p = 0; p < theta.length; p++) {
      const own = grad[p]! / count;
      first[p] = beta1 * first[p]! + (1 - beta1) * own;
      second[p] = beta2 * second[p]! + (1 - beta2) * own * own;
      theta[p]! -= (rate * first[p]!) / (Math.sqrt(second[p]! * spread) + 1e-8);
    }
  };
}
