/** Cosines of a dialogue's texts with names, each computed once a dialogue. */
import { Arena } from '../../../src/nn/simd/arena.js';
import { WorkbenchError } from '../../../src/run/errors.js';
import { kernelsRun, openKernels } from '../../../src/nn/simd/kernels.js';

/** Larger tables are not copied to where kernels reach them: memory counts more then. */
const mostBytes = 2 ** 28;

const mostRows = 4096;

/** Dot products of one query with rows of a table, each computed once a query. */
export class CosineMemo {
  /** float32 [rows]: of those whose stamp is the generation. */
  readonly values: Float32Array;
  readonly stamps: Int32Array;
  query: Float32Array = new Float32Array(0);
  generation = 0;

  constructor(
    readonly table: Float32Array,
    readonly dim: number,
  ) {
    this.values = new Float32Array(table.length / dim);
    this.stamps = new Int32Array(table.length / dim);
  }

  open(query: Float32Array, generation: number): void {
    this.query = query;
    this.generation = generation;
  }

  of(row: number): number {
    if (this.stamps[row] !== this.generation) {
      const begin = row * this.dim;
      let a = 0;
      let b = 0;
      // Two sums let the processor overlap the additions; dimensions of text encoders are even.
      for (let j = 0; j + 1 < this.dim; j += 2) {
        a += this.query[j]! * this.table[begin + j]!;
        b += this.query[j + 1]! * this.table[begin + j + 1]!;
      }
      if (this.dim % 2) a += this.query[this.dim - 1]! * this.table[begin + this.dim - 1]!;
      this.values[row] = a + b;
      this.stamps[row] = this.generation;
    }
    return this.values[row]!;
  }
}

/** Cosines of the last message and of the window with entities: a kernel reads each row once for both. */
export class EntityCosines {
  readonly last: CosineMemo;
  readonly window: CosineMemo;
  /** Null where there is none. */
  #kernel: ReturnType<typeof openKernel> | null | undefined;

  constructor(
    readonly table: Float32Array,
    readonly dim: number,
  ) {
    this.last = new CosineMemo(table, dim);
    this.window = new CosineMemo(table, dim);
  }

  open(last: Float32Array, window: Float32Array, generation: number): void {
    this.last.open(last, generation);
    this.window.open(window, generation);
    this.#kernel?.open(last, window);
  }

  /** Computes those of some entities that are not there yet; without a kernel each waits until it is asked for. */
  prepare(entities: Iterable<number>): void {
    const { last, window, table, dim } = this;
    if (this.#kernel === undefined) {
      this.#kernel = kernelOf(table, dim);
      this.#kernel?.open(last.query, window.query);
    }
    if (this.#kernel === null) return;
    const { rows, dots } = this.#kernel;
    const { generation } = last;
    let count = 0;
    const compute = () => {
      const [first, second] = dots(count);
      for (let i = 0; i < count; i++) {
        const row = rows[i]!;
        last.values[row] = first[i]!;
        window.values[row] = second[i]!;
        window.stamps[row] = generation;
      }
      count = 0;
    };
    for (const entity of entities) {
      if (last.stamps[entity] === generation) continue;
      last.stamps[entity] = generation;
      rows[count++] = entity;
      if (count === mostRows) compute();
    }
    compute();
  }
}

function kernelOf(table: Float32Array, dim: number): ReturnType<typeof openKernel> | null {
  if (!kernelsRun() || dim % 2 !== 0 || table.byteLength > mostBytes) return null;
  try {
    return openKernel(table, dim);
  } catch (error) {
    if (error instanceof WorkbenchError || error instanceof RangeError) return null;
    throw error;
  }
}

function openKernel(table: Float32Array, dim: number) {
  const arena = new Arena();
  const kernels = openKernels(arena.memory);
  const held = arena.hold(table);
  // Float64 in room for float32.
  const queries = [arena.float32(2 * dim), arena.float32(2 * dim)].map(
    ({ buffer, byteOffset }) => new Float64Array(buffer, byteOffset, dim),
  );
  const rows = arena.int32(mostRows);
  const out = [arena.float32(mostRows), arena.float32(mostRows)] as const;
  const [first, second] = queries.map(({ byteOffset }) => byteOffset) as [number, number];
  const [outFirst, outSecond] = out.map(({ byteOffset }) => byteOffset) as [number, number];
  return {
    /** int32 [mostRows]: for the caller to fill. */
    rows,
    open: (...texts: readonly [Float32Array, Float32Array]) => queries.forEach((query, k) => query.set(texts[k]!)),
    /** Dot products of the first `count` rows with both queries: float32, overwritten by the next call. */
    dots(count: number) {
      kernels.twoDots(first, second, dim, held.byteOffset, rows.byteOffset, count, outFirst, outSecond);
      return out;
    },
  };
}
