/** Principal components of the rows of a table. */
import { EigenvalueDecomposition, Matrix } from 'ml-matrix';
import { SimdExecutor } from './simd/executor.js';

/** A table that need never be whole: float32 rows `begin .. end - 1`, row-major. */
type RowBlocks = (begin: number, end: number) => Float32Array;

const blockRows = 4096;

/**
 * Projects centred rows on their leading components and scales the result to a mean norm of 1.
 * @param numComponents components kept; fewer when the table is narrower
 * @returns float32 [numRows, dim] and its dim; what other rows of the table's kind are projected by: less `mean` [width], times `basis` [width, dim]
 */
export function principalComponents(
  blocks: RowBlocks,
  numRows: number,
  width: number,
  numComponents: number,
): { rows: Float32Array; dim: number; mean: Float32Array; basis: Float32Array } {
  const executor = new SimdExecutor();
  const dim = Math.min(numComponents, width);
  const { mean, covariance } = moments(executor, blocks, numRows, width);
  const { eigenvectorMatrix, realEigenvalues } = new EigenvalueDecomposition(covariance, { assumeSymmetric: true });
  const leading = realEigenvalues.map((value, i) => [value, i] as const).sort((a, b) => b[0] - a[0]);
  const basis = new Float32Array(width * dim);
  for (let c = 0; c < dim; c++) {
    for (let j = 0; j < width; j++) basis[j * dim + c] = eigenvectorMatrix.get(j, leading[c]![1]);
  }
  const directions = executor.copied('directions', basis);
  const rows = new Float32Array(numRows * dim);
  for (const [begin, end] of blocksOf(numRows)) {
    const centred = executor.copied('rows', blocks(begin, end));
    for (let i = 0; i < centred.length; i++) centred[i]! -= mean[i % width]!;
    const projected = executor.floats('projected', (end - begin) * dim);
    executor.matMul('ab', centred, directions, projected, end - begin, width, dim);
    rows.set(projected, begin * dim);
  }
  const factor = toMeanNorm(rows, dim);
  const scaled = (value: number) => value * factor;
  return { rows: rows.map(scaled), dim, mean, basis: basis.map(scaled) };
}

/** Scales rows to a mean norm of 1, so that parts of a vector weigh alike. */
export function scaledToMeanNorm(table: Float32Array, width: number): Float32Array {
  const factor = toMeanNorm(table, width);
  return table.map((value) => value * factor);
}

function toMeanNorm(table: Float32Array, width: number): number {
  let norms = 0;
  for (let begin = 0; begin < table.length; begin += width) {
    let square = 0;
    for (let j = begin; j < begin + width; j++) square += table[j]! * table[j]!;
    norms += Math.sqrt(square);
  }
  return table.length / width / Math.max(norms, 1e-12);
}

/** Mean and covariance; sums over blocks run in float64. */
function moments(
  executor: SimdExecutor,
  blocks: RowBlocks,
  numRows: number,
  width: number,
): { mean: Float32Array; covariance: Matrix } {
  const sums = new Float64Array(width);
  const products = new Float64Array(width * width);
  for (const [begin, end] of blocksOf(numRows)) {
    const block = blocks(begin, end);
    for (let i = 0; i < block.length; i++) sums[i % width]! += block[i]!;
    const rows = executor.copied('rows', block);
    const square = executor.floats('square', products.length);
    executor.matMul('aTb', rows, rows, square, width, end - begin, width);
    for (let i = 0; i < products.length; i++) products[i]! += square[i]!;
  }
  const mean = Float32Array.from(sums, (sum) => sum / numRows);
  const covariance = new Matrix(width, width);
  for (let i = 0; i < width; i++) {
    for (let j = 0; j < width; j++) {
      covariance.set(i, j, products[i * width + j]! / numRows - (sums[i]! / numRows) * (sums[j]! / numRows));
    }
  }
  return { mean, covariance };
}

function* blocksOf(numRows: number): Generator<[begin: number, end: number]> {
  for (let begin = 0; begin < numRows; begin += blockRows) yield [begin, Math.min(numRows, begin + blockRows)];
}
