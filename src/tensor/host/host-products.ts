/** Products of matrices on the host with their gradients, and room for what they give, for networks that are written out layer by layer. */
import type { Arena } from '../../simd/arena.js';
import type { Kernels } from '../../simd/kernels.js';

/** Rows of a gradient that are summed at once: what they read stays in the cache. */
const rowsAtOnce = 512;

/**
 * Kernels over arrays of one arena. An element's sum runs in one order, so a row's numbers do not depend on the other rows. Arrays
 * are float32 and row-major; where `add` is true the result is added to what is there.
 */
export class HostProducts {
  readonly #floats = new Map<string, Float32Array>();
  readonly #numbers = new Map<string, Int32Array>();

  constructor(
    readonly arena: Arena,
    readonly kernels: Kernels,
  ) {}

  /**
   * float32 [length] by name, with what it held before; the view is valid until a longer one is asked for. Kernels may change 3 values behind its end.
   */
  floats(name: string, length: number): Float32Array {
    let room = this.#floats.get(name);
    if (!room || room.length < length + 4) {
      room = this.arena.float32(Math.ceil(length * 1.25) + 4);
      this.#floats.set(name, room);
    }
    return room.subarray(0, length);
  }

  /** A copy where kernels reach it, by name. */
  copied(name: string, values: Float32Array): Float32Array {
    const copy = this.floats(name, values.length);
    copy.set(values);
    return copy;
  }

  /** int32, the same. */
  numbers(name: string, values: Int32Array): Int32Array {
    let room = this.#numbers.get(name);
    if (!room || room.length < values.length) {
      room = this.arena.int32(Math.ceil(values.length * 1.25));
      this.#numbers.set(name, room);
    }
    room.set(values);
    return room.subarray(0, values.length);
  }

  /** Rows of a table: float32 [index, width]. */
  rows(name: string, table: Float32Array, index: Int32Array, width: number): Float32Array {
    const out = this.floats(name, index.length * width);
    this.kernels.copyRows(out.byteOffset, table.byteOffset, index.byteOffset, index.length, width);
    return out;
  }

  /** a [m, k] · b [k, n] into `out` [m, n]. */
  product(a: Float32Array, m: number, k: number, b: Float32Array, n: number, out: Float32Array, add = false): void {
    const panel = this.floats('panel', 8 * k + 32).byteOffset;
    this.kernels.matMul(
      ...([a.byteOffset, k, 1, b.byteOffset, n, 1] as const),
      ...([out.byteOffset, m, k, n, panel, Number(add)] as const),
    );
  }

  /** The same, and a bias [n] on each row. */
  biased(a: Float32Array, m: number, k: number, b: Float32Array, bias: Float32Array, out: Float32Array): void {
    this.product(a, m, k, b, bias.length, out);
    this.kernels.addBias(out.byteOffset, bias.byteOffset, m, bias.length);
  }

  /** Backward of `a`: g [m, n] · bᵀ into `out` [m, k], for b [k, n]. */
  back(g: Float32Array, m: number, n: number, b: Float32Array, k: number, out: Float32Array, add = false): void {
    const panel = this.floats('panel', 8 * n + 32).byteOffset;
    this.kernels.matMul(
      ...([g.byteOffset, n, 1, b.byteOffset, 1, n] as const),
      ...([out.byteOffset, m, n, k, panel, Number(add)] as const),
    );
  }

  /** Backward of `b`: adds aᵀ · g to `grad` [k, n], for a [m, k] and g [m, n]. */
  weights(a: Float32Array, m: number, k: number, g: Float32Array, n: number, grad: Float32Array): void {
    const panel = this.floats('panel', 8 * rowsAtOnce + 32).byteOffset;
    const turned = this.floats('turned', rowsAtOnce * k).byteOffset;
    for (let begin = 0; begin < m; begin += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, m - begin);
      this.kernels.transpose(turned, a.byteOffset + 4 * begin * k, count, k);
      this.kernels.matMul(
        ...([turned, count, 1, g.byteOffset + 4 * begin * n, n, 1] as const),
        ...([grad.byteOffset, k, count, n, panel, 1] as const),
      );
    }
  }

  /** Backward of a bias: adds the sums of the columns of g [m, n] to `grad` [n]. */
  bias(g: Float32Array, m: number, grad: Float32Array): void {
    const sums = this.floats('sums', grad.length);
    this.kernels.columnSums(g.byteOffset, m, grad.length, sums.byteOffset);
    for (let j = 0; j < grad.length; j++) grad[j]! += sums[j]!;
  }
}
