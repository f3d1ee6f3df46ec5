/** The loss of a query, what a batch gives to the gradients of its rows, and the move that follows. */
import type { BilinearTable } from '../../../src/embedding/bilinear.js';

/** Vectors or their gradients: float32, rows as in the table. */
type BilinearRows = { entities: Float32Array; relations: Float32Array };

/**
 * Adds to the gradients of a query's head and relation, given those of its vector, head ∘ relation.
 * @param ofQuery float32, whose `dim` values begin at `from`
 */
export function addQueryGradient(
  { model, dim, entities, relations }: BilinearTable,
  gradients: BilinearRows,
  head: number,
  relation: number,
  ofQuery: Float32Array,
  from: number,
): void {
  const h = head * dim;
  const r = relation * dim;
  if (model === 'distmult') {
    for (let k = 0; k < dim; k++) {
      gradients.entities[h + k]! += ofQuery[from + k]! * relations[r + k]!;
      gradients.relations[r + k]! += ofQuery[from + k]! * entities[h + k]!;
    }
    return;
  }
  const half = dim / 2;
  for (let k = 0; k < half; k++) {
    const real = ofQuery[from + k]!;
    const imaginary = ofQuery[from + half + k]!;
    gradients.entities[h + k]! += real * relations[r + k]! + imaginary * relations[r + half + k]!;
    gradients.entities[h + half + k]! += imaginary * relations[r + k]! - real * relations[r + half + k]!;
    gradients.relations[r + k]! += real * entities[h + k]! + imaginary * entities[h + half + k]!;
    gradients.relations[r + half + k]! += imaginary * entities[h + k]! - real * entities[h + half + k]!;
  }
}

/**
 * Adds the gradient of `weight` · Σ |x|³ over the numbers of a row, complex ones by their modulus.
 * @source Lacroix et al. 2018, "Canonical tensor decomposition for knowledge base completion", the nuclear 3-norm
 */
export function addCubeGradient(
  { model, dim }: Pick<BilinearTable, 'model' | 'dim'>,
  values: Float32Array,
  gradients: Float32Array,
  row: number,
  weight: number,
): void {
  const begin = row * dim;
  if (model === 'distmult') {
    for (let k = begin; k < begin + dim; k++) gradients[k]! += 3 * weight * Math.abs(values[k]!) * values[k]!;
    return;
  }
  const half = dim / 2;
  for (let k = begin; k < begin + half; k++) {
    const modulus = Math.sqrt(values[k]! * values[k]! + values[k + half]! * values[k + half]!);
    gradients[k]! += 3 * weight * modulus * values[k]!;
    gradients[k + half]! += 3 * weight * modulus * values[k + half]!;
  }
}

/** Keeps the first step of a number with a gradient near 0 finite. */
const epsilon = 1e-10;

/** A step of Adagrad for a row, whose gradient is first multiplied with `scale` and then cleared. */
export function moveRow(
  { values, squares, gradients }: { values: Float32Array; squares: Float32Array; gradients: Float32Array },
  row: number,
  dim: number,
  learningRate: number,
  scale: number,
): void {
  for (let k = row * dim; k < (row + 1) * dim; k++) {
    const gradient = gradients[k]! * scale;
    gradients[k] = 0;
    const square = squares[k]! + gradient * gradient;
    squares[k] = square;
    values[k]! -= (learningRate * gradient) / (Math.sqrt(square) + epsilon);
  }
}

/**
 * Σ over the answers of −log softmax(scores)[answer]: each answer competes with all candidates, other answers among them.
 * That this costs ranks, since answers push each other down, is outweighed by what it holds back: leaving other answers out
 * of the sum overfitted train (docs/decisions/link-queries.md).
 * @param scores of the candidates, those of the query at `from` to `from + count - 1`; become the derivatives by them
 * @param indices of the answers' scores, each once, counted from `from`
 * @returns the loss
 */
export function softmaxGrad(scores: Float32Array, from: number, count: number, indices: Int32Array): number {
  const end = from + count;
  let highest = -Infinity;
  for (let c = from; c < end; c++) if (scores[c]! > highest) highest = scores[c]!;
  let loss = 0;
  for (let a = 0; a < indices.length; a++) loss -= scores[from + indices[a]!]! - highest;
  let sum = 0;
  for (let c = from; c < end; c++) {
    const odds = Math.exp(scores[c]! - highest);
    scores[c] = odds;
    sum += odds;
  }
  const share = indices.length / sum;
  for (let c = from; c < end; c++) scores[c]! *= share;
  for (let a = 0; a < indices.length; a++) scores[from + indices[a]!]! -= 1;
  return loss + indices.length * Math.log(sum);
}
