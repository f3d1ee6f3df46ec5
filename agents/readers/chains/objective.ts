/**
 * The chain objective: the exact gradient of what is expected of a chain drawn by the network, without drawing any.
 *
 *   log p(c) = Σ over the choices of c of log softmax(row)[choice]
 *   L = −log Σ_c p(c) · (F_c + ε),   w_c = p(c) (F_c + ε) / Σ_c′ p(c′) (F_c′ + ε)
 *   ∂L/∂row = (Σ_c w_c [c chooses in row]) · softmax(row) − Σ_c w_c onehot(choice of c in row)
 *
 * F_c is the F1 of the entities that a feasible chain leads to. An infeasible chain has reward 0, so no mask is needed. The plain form
 * −Σ p(c) F_c is what policy gradients estimate; its logarithm learns from a flat start, where a right chain of three relations has a
 * probability of 1/R³.
 */
import { finiteLoss } from '../../../src/nn/diverged.js';

/** ε: keeps the loss of a question that no chain answers finite. */
const least = 1e-6;

/** The chains of one question as choices among rows of scores. */
export interface ChosenChains {
  /** int32 [2 · choices]: row and place in it, choice by choice. */
  choices: Int32Array;
  /** int32 [chains + 1]: choices of chain `c` are `offsets[c] .. offsets[c + 1] - 1`. */
  offsets: Int32Array;
  /** float64 [chains]. */
  f1: Float64Array;
}

/** Loss and its gradient by every score. */
export interface ChainLoss {
  /** Mean over the questions. */
  loss: number;
  /** float32, as the scores. */
  grad: Float32Array;
  /** Mean over the questions of Σ_c p(c) F_c: the F1 to be expected of a chain that is drawn. */
  expectedF1: number;
}

/**
 * @param scores float32, row behind row
 * @param rows int32 [rows + 1]: where each begins
 * @param questions each with at least one chain
 * @throws Diverged for a loss that is not finite
 */
export function chainLoss(scores: Float32Array, rows: Int32Array, questions: readonly ChosenChains[]): ChainLoss {
  const logs = logSoftmaxRows(scores, rows);
  const grad = new Float64Array(scores.length);
  const visits = new Float64Array(rows.length - 1);
  const share = 1 / questions.length;
  let [loss, expectedF1] = [0, 0];
  for (const question of questions) {
    const { choices, offsets, f1 } = question;
    const { logReward, weights } = chainWeights(logs, rows, question);
    loss -= share * logReward;
    for (let c = 0; c < f1.length; c++) {
      const weight = weights[c]!;
      expectedF1 += (share * weight * Math.exp(logReward) * f1[c]!) / (f1[c]! + least);
      for (let i = offsets[c]!; i < offsets[c + 1]!; i++) {
        const row = choices[2 * i]!;
        visits[row]! += share * weight;
        grad[rows[row]! + choices[2 * i + 1]!]! -= share * weight;
      }
    }
  }
  for (let row = 0; row < visits.length; row++) {
    if (visits[row] === 0) continue;
    for (let i = rows[row]!; i < rows[row + 1]!; i++) grad[i]! += visits[row]! * Math.exp(logs[i]!);
  }
  return { loss: finiteLoss(loss), grad: Float32Array.from(grad), expectedF1 };
}

/**
 * Share of each chain of a question in the expected reward.
 * @param logs of `logSoftmaxRows`
 * @returns `logReward`, log Σ_c p(c) (F_c + ε), and float64 [chains] w_c, which sum to 1
 */
export function chainWeights(
  logs: Float64Array,
  rows: Int32Array,
  { choices, offsets, f1 }: ChosenChains,
): { logReward: number; weights: Float64Array } {
  const each = Float64Array.from(f1, (value, c) => {
    let log = Math.log(value + least);
    for (let i = offsets[c]!; i < offsets[c + 1]!; i++) log += logs[rows[choices[2 * i]!]! + choices[2 * i + 1]!]!;
    return log;
  });
  const most = each.reduce((a, b) => Math.max(a, b), -Infinity);
  const logReward = most + Math.log(each.reduce((sum, log) => sum + Math.exp(log - most), 0));
  return { logReward, weights: each.map((log) => Math.exp(log - logReward)) };
}

/** float64: log softmax of each row. */
export function logSoftmaxRows(scores: Float32Array, rows: Int32Array): Float64Array {
  const logs = new Float64Array(scores.length);
  for (let row = 0; row + 1 < rows.length; row++) {
    const [begin, end] = [rows[row]!, rows[row + 1]!];
    let most = -Infinity;
    for (let i = begin; i < end; i++) most = Math.max(most, scores[i]!);
    let sum = 0;
    for (let i = begin; i < end; i++) sum += Math.exp(scores[i]! - most);
    const log = most + Math.log(sum);
    for (let i = begin; i < end; i++) logs[i] = scores[i]! - log;
  }
  return logs;
}
