/**
 * A policy over chains: which one to walk for a query relation, learned by the exact likelihood of the answer.
 *
 *   π = softmax(θ)    S = Σ_p π_p f_p(t)    M = Σ_p π_p m_p    loss = log(M + ε) − log(S + ε)
 *   ∂loss/∂θ_p = π_p (g_p − Σ_k π_k g_k)    g_p = m_p / (M + ε) − f_p(t) / (S + ε)
 *
 * f_p(t) is the chance that a walk along p ends on the answer, m_p that it ends on any entity but other known answers: listwise and
 * filtered over all entities, without one being drawn. Nothing is sampled: what PPO and REINFORCE estimate from walks is S, whose
 * gradient weighs a query that is hardly solved with nearly nothing; that of its logarithm weighs all alike.
 */
import type { Rng } from '../../../src/run/seeds.js';

/** What some queries of one relation say of its chains; the last column is the prior's. */
export interface MixtureTable {
  queries: number;
  /** Chains and the prior. */
  columns: number;
  /** float32 [queries, columns]: f_p(t) */
  answer: Float32Array;
  /** float32 [queries, columns]: m_p */
  free: Float32Array;
}

/** How a policy is fitted. */
export interface MixtureCourse {
  steps: number;
  batchSize: number;
  /** Of the first step; falls linearly to 0. */
  learningRate: number;
}

const epsilon = 1e-7;

/** @param pi float64 [columns], filled with softmax(θ) */
export function mixtureOf(theta: Float64Array, pi: Float64Array): void {
  let most = -Infinity;
  for (const value of theta) most = Math.max(most, value);
  let sum = 0;
  for (let p = 0; p < theta.length; p++) sum += pi[p] = Math.exp(theta[p]! - most);
  for (let p = 0; p < theta.length; p++) pi[p]! /= sum;
}

/**
 * Loss of one query, and its gradient added.
 * @param pi softmax(θ)
 * @param slope float64 [columns]: ∂loss/∂θ is added; undefined: the loss alone
 */
export function mixtureLoss(
  { columns, answer, free }: MixtureTable,
  query: number,
  pi: Float64Array,
  slope?: Float64Array,
): number {
  const base = query * columns;
  let [right, mass] = [0, 0];
  for (let p = 0; p < columns; p++) {
    right += pi[p]! * answer[base + p]!;
    mass += pi[p]! * free[base + p]!;
  }
  const loss = Math.log(mass + epsilon) - Math.log(right + epsilon);
  if (!slope) return loss;
  // Σ π g has both sums in it already.
  const mean = mass / (mass + epsilon) - right / (right + epsilon);
  for (let p = 0; p < columns; p++) {
    const own = free[base + p]! / (mass + epsilon) - answer[base + p]! / (right + epsilon);
    slope[p]! += pi[p]! * (own - mean);
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

/**
 * Adam down the mean loss of batches, each query once before any is seen again.
 * @param theta float64 [columns], where it starts; changed
 * @param pause awaited between steps
 */
export async function fitMixture(
  table: MixtureTable,
  theta: Float64Array,
  course: MixtureCourse,
  rng: Rng,
  pause: () => Promise<void>,
): Promise<void> {
  const { queries, columns } = table;
  if (queries === 0) return;
  const { steps, batchSize, learningRate } = course;
  const [beta1, beta2] = [0.9, 0.999];
  const [first, second] = [new Float64Array(columns), new Float64Array(columns)];
  const [pi, slope] = [new Float64Array(columns), new Float64Array(columns)];
  const order = Int32Array.from({ length: queries }, (_, i) => i);
  const size = Math.min(batchSize, queries);
  let next = queries;
  for (let step = 0; step < steps; step++) {
    mixtureOf(theta, pi);
    slope.fill(0);
    for (let i = 0; i < size; i++) {
      if (next === queries) {
        rng.shuffle(order);
        next = 0;
      }
      mixtureLoss(table, order[next++]!, pi, slope);
    }
    const rate = (learningRate * (1 - step / steps)) / (1 - beta1 ** (step + 1));
    const spread = 1 / (1 - beta2 ** (step + 1));
    for (let p = 0; p < columns; p++) {
      const own = slope[p]! / size;
      first[p] = beta1 * first[p]! + (1 - beta1) * own;
      second[p] = beta2 * second[p]! + (1 - beta2) * own * own;
      theta[p]! -= (rate * first[p]!) / (Math.sqrt(second[p]! * spread) + 1e-8);
    }
    await pause();
  }
}
