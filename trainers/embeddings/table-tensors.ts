/** Arrays of tables and of their training in checkpoints, and what they were trained on. */
import { createHash } from 'node:crypto';
import type { Tensor } from '../../checkpoints/safetensors.js';
import type { TripleColumns } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';

/** Rows of `dim` values as a tensor. */
export function matrix(data: Float32Array, dim: number): Tensor {
  return { shape: [data.length / dim, dim], data };
}

/**
 * The values of a tensor.
 * @param file what to call it in errors
 * @throws WorkbenchError `data` where it is absent, of another type or length
 */
export function values<T extends Float32Array | Float64Array>(
  tensor: Tensor | undefined,
  type: new (length: number) => T,
  length: number,
  file: string,
): T {
  if (tensor?.data instanceof type && tensor.data.length === length) return tensor.data;
  throw unfit(`${length} values of ${type.name}`, tensor ? `${tensor.data.length}` : 'none', file);
}

/** What to throw for a file that holds something else. */
export function unfit(expected: string, got: string, file: string): WorkbenchError {
  return new WorkbenchError('data', `expected ${expected}, got ${got}, at ${file}`, {
    hint: 'Delete the file and pretrain again.',
  });
}

/** sha256 (hex) over the ids, in their order. */
export function hashOfTriples({ heads, relations, tails }: TripleColumns): string {
  const hash = createHash('sha256');
  for (const { buffer, byteOffset, byteLength } of [heads, relations, tails]) {
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest('hex');
}
