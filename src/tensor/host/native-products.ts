/**
 * Wide products of a network on the host by a tensor backend: these are worth the copies and the call, what goes over values one
 * by one is not.
 */
import { WorkbenchError } from '../../run/errors.js';
import type { Arena } from '../../simd/arena.js';
import type { Kernels } from '../../simd/kernels.js';
import { readsAtOnce, type Tf } from '../ops.js';

/** Multiply-adds from which on a product is worth its copies. */
const worthFrom = 4e6;

/**
 * Kernels whose `matMul` leaves large matrices to a backend. Sums run in the backend's order, so a row's results may differ by
 * rounding from those of the same row among others.
 * @param tf an open backend whose tensors can be read without waiting
 * @param kernels those of the arena
 * @throws WorkbenchError `usage` for another backend
 */
export function withNativeProducts(tf: Tf, kernels: Kernels, arena: Arena): Kernels {
  if (!readsAtOnce(tf)) {
    throw new WorkbenchError(
      'usage',
      `expected a backend that computes in the host's memory, got ${tf.getBackend()}, at the products of a host network`,
      { hint: 'Open `tensorflow`, `wasm` or `cpu`.' },
    );
  }
  const matMul: Kernels['matMul'] = (...args) => {
    const [a, aRow, aCol, b, bRow, bCol, c, m, k, n, , add] = args;
    const [left, right] = [layoutOf(m, k, aRow, aCol), layoutOf(k, n, bRow, bCol)];
    if (m * k * n < worthFrom || !left || !right) return kernels.matMul(...args);
    const at = (begin: number, length: number) => new Float32Array(arena.memory.buffer, begin, length);
    const factors = [tf.tensor2d(at(a, m * k), left.shape), tf.tensor2d(at(b, k * n), right.shape)] as const;
    const product = tf.matMul(...factors, left.transposed, right.transposed);
    const values = product.dataSync() as Float32Array;
    const out = at(c, m * n);
    if (add === 0) out.set(values);
    else for (let i = 0; i < values.length; i++) out[i]! += values[i]!;
    tf.dispose([product, ...factors]);
  };
  return { ...kernels, matMul };
}

/** How a matrix lies in memory; undefined where it does not lie in one piece. */
function layoutOf(rows: number, columns: number, row: number, column: number) {
  if (column === 1 && row === columns) return { shape: [rows, columns] as [number, number], transposed: false };
  if (row === 1 && column === rows) return { shape: [columns, rows] as [number, number], transposed: true };
  return undefined;
}
