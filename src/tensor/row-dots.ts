/**
 * Dot products of paired rows of two tables on the host, with their gradients. Every sum keeps its order, so results are those of one
 * pair after the other, to the bit.
 */
import { Arena } from '../simd/arena.js';
import { openKernels } from '../simd/kernels.js';
import { HostProducts } from './host/host-products.js';

export interface Rows {
  /** float32, row-major. */
  values: Float32Array;
  /** Values from one row to the next. */
  stride: number;
  /** First column that takes part. */
  column: number;
}

export interface RowPairs {
  /** Columns that take part. */
  width: number;
  /** int32 [m]: row of the left table; equal ones best side by side, which are taken four at a time. */
  left: Int32Array;
  /** int32 [m]: row of the right table. */
  right: Int32Array;
}

/** Tables above are read in place, without SIMD: memory counts more then. */
const mostBytes = 2 ** 28;

/** SIMD kernels over separate memory, which grows with the largest call. */
export class RowDots {
  readonly #memory: HostProducts;
  readonly #held = new Set<Float32Array>();

  /** @param most bytes of a right table that is copied */
  constructor(private readonly most = mostBytes) {
    const arena = new Arena();
    this.#memory = new HostProducts(arena, openKernels(arena.memory));
  }

  /** A copy that calls read in place; of a table that is too large the table itself. Neither is to be changed. */
  hold(table: Float32Array): Float32Array {
    if (table.byteLength > this.most) return table;
    const held = this.#memory.arena.hold(table);
    this.#held.add(held);
    return held;
  }

  /**
   * Adds `left row · right row` of each pair to `out`.
   * @param out float32 [m]; each product is summed in float64 and rounded before it is added
   */
  addRowDots(out: Float32Array, left: Rows, right: Rows, { width, left: p, right: q }: RowPairs): void {
    const { kernels } = this.#memory;
    if (this.#isLarge(right)) return plainDots(out, left, right, { width, left: p, right: q });
    const sums = this.#memory.copied('pairs', out);
    kernels.addRowDots(
      ...([sums.byteOffset, this.#at('left', left), left.stride, this.#at('right', right), right.stride] as const),
      ...([width, this.#ids('left', p), this.#ids('right', q), out.length] as const),
    );
    out.set(sums);
  }

  /**
   * Adds `upstream · right row` of each pair to its left row: the gradient of the left table. With the tables' parts and the
   * pairs' sides exchanged it is that of the right one.
   * @param gradient as the left table
   * @param upstream float32 [m]
   */
  addRowDotsGradient(
    gradient: Rows,
    upstream: Float32Array,
    right: Rows,
    { width, left: p, right: q }: RowPairs,
  ): void {
    const { kernels } = this.#memory;
    if (this.#isLarge(right)) return plainGradient(gradient, upstream, right, { width, left: p, right: q });
    const to = this.#at('left', gradient);
    const by = this.#memory.copied('pairs', upstream).byteOffset;
    kernels.addRowDotsGradient(
      ...([to, gradient.stride, by, this.#at('right', right), right.stride] as const),
      ...([width, this.#ids('left', p), this.#ids('right', q), upstream.length] as const),
    );
    gradient.values.set(this.#memory.floats('left', gradient.values.length));
  }

  #isLarge({ values }: Rows): boolean {
    return values.byteLength > this.most && !this.#held.has(values);
  }

  #at(name: string, { values, column }: Rows): number {
    const place = this.#held.has(values) ? values : this.#memory.copied(name, values);
    return place.byteOffset + 4 * column;
  }

  #ids(name: string, rows: Int32Array): number {
    return this.#memory.numbers(name, rows).byteOffset;
  }
}

function plainDots(out: Float32Array, left: Rows, right: Rows, pairs: RowPairs): void {
  for (let i = 0; i < out.length; i++) {
    const [x, y] = [placeOf(left, pairs.left[i]!), placeOf(right, pairs.right[i]!)];
    let sum = 0;
    for (let j = 0; j < pairs.width; j++) sum += left.values[x + j]! * right.values[y + j]!;
    out[i]! += Math.fround(sum);
  }
}

function plainGradient(gradient: Rows, upstream: Float32Array, right: Rows, pairs: RowPairs): void {
  for (let i = 0; i < upstream.length; i++) {
    const [x, y] = [placeOf(gradient, pairs.left[i]!), placeOf(right, pairs.right[i]!)];
    for (let j = 0; j < pairs.width; j++) gradient.values[x + j]! += upstream[i]! * right.values[y + j]!;
  }
}

const placeOf = ({ stride, column }: Rows, row: number) => row * stride + column;

let shared: RowDots | undefined;

/** Those of this thread, for calls that hold no table. */
export function sharedRowDots(): RowDots {
  return (shared ??= new RowDots());
}
