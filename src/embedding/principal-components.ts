/** Principal components of the rows of a table. */
import { EigenvalueDecomposition, Matrix } from 'ml-matrix';

/**
 * Projects centred rows on their leading components and scales the result to a mean norm of 1.
 * Zeros are skipped, so sparse tables cost by their entries.
 * @param table float32 [numRows, width], row-major
 * @param numComponents components kept; fewer when the table is narrower
 * @returns float32 [numRows, dim] and its dim
 */
export function principalComponents(
  table: Float32Array,
  width: number,
  numComponents: number,
): { rows: Float32Array; dim: number } {
  const numRows = table.length / width;
  const dim = Math.min(numComponents, width);
  const { mean, covariance } = moments(table, width);
  const { eigenvectorMatrix, realEigenvalues } = new EigenvalueDecomposition(new Matrix(covariance), {
    assumeSymmetric: true,
  });
  const leading = realEigenvalues.map((value, i) => [value, i] as const).sort((a, b) => b[0] - a[0]);
  const basis = new Float64Array(width * dim);
  const offset = new Float64Array(dim);
  for (let c = 0; c < dim; c++) {
    for (let j = 0; j < width; j++) {
      basis[j * dim + c] = eigenvectorMatrix.get(j, leading[c]![1]);
      offset[c]! += mean[j]! * basis[j * dim + c]!;
    }
  }
  const rows = new Float32Array(numRows * dim);
  const row = new Float64Array(dim);
  let norms = 0;
  for (let r = 0; r < numRows; r++) {
    for (let c = 0; c < dim; c++) row[c] = -offset[c]!;
    for (let j = 0; j < width; j++) {
      const value = table[r * width + j]!;
      if (value === 0) continue;
      for (let c = 0; c < dim; c++) row[c]! += value * basis[j * dim + c]!;
    }
    rows.set(row, r * dim);
    norms += Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
  }
  return { rows: scaled(rows, numRows / Math.max(norms, 1e-12)), dim };
}

/** Scales rows to a mean norm of 1, so that parts of a vector weigh alike. */
export function scaledToMeanNorm(table: Float32Array, width: number): Float32Array {
  let norms = 0;
  for (let begin = 0; begin < table.length; begin += width) {
    let square = 0;
    for (let j = begin; j < begin + width; j++) square += table[j]! * table[j]!;
    norms += Math.sqrt(square);
  }
  return scaled(table, table.length / width / Math.max(norms, 1e-12));
}

function scaled(table: Float32Array, factor: number): Float32Array {
  return table.map((value) => value * factor);
}

function moments(table: Float32Array, width: number): { mean: Float64Array; covariance: Float64Array[] } {
  const numRows = table.length / width;
  const mean = new Float64Array(width);
  const products = Array.from({ length: width }, () => new Float64Array(width));
  const present = new Int32Array(width);
  for (let r = 0; r < numRows; r++) {
    let count = 0;
    for (let j = 0; j < width; j++) {
      const value = table[r * width + j]!;
      if (value === 0) continue;
      mean[j]! += value / numRows;
      present[count++] = j;
    }
    for (let a = 0; a < count; a++) {
      const value = table[r * width + present[a]!]! / numRows;
      const line = products[present[a]!]!;
      for (let b = 0; b <= a; b++) line[present[b]!]! += value * table[r * width + present[b]!]!;
    }
  }
  for (let i = 0; i < width; i++) {
    for (let j = 0; j <= i; j++) {
      products[i]![j]! -= mean[i]! * mean[j]!;
      products[j]![i] = products[i]![j]!;
    }
  }
  return { mean, covariance: products };
}
