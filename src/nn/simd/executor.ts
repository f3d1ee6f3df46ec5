/** The default executor: SIMD kernels of WebAssembly over arrays of one memory, at once and on one thread. Needs nothing but Node. */
import { roundedToBfloat16 } from '../bfloat16.js';
import {
  type Activation,
  type AdamStep,
  type Block,
  eachGroup,
  type Executor,
  type Normalization,
  type Product,
  type Run,
} from '../executor.js';
import { padded, SimdMemory } from './memory.js';

/** Rows of a gradient that are summed at once: what they read stays in the cache. */
const rowsAtOnce = 512;

/** An element's sum runs in one order, so a row's numbers do not depend on the other rows. Arrays may have more numbers than an operation reads. */
export class SimdExecutor extends SimdMemory implements Executor<Float32Array, Int32Array> {
  readonly name = 'simd';
  readonly rowsAreIndependent = true;

  matMul(
    kind: Product,
    a: Float32Array,
    b: Float32Array,
    out: Float32Array,
    m: number,
    k: number,
    n: number,
    add = false,
  ): void {
    if (kind === 'aTb') return this.#transposedProduct(a, b, out, m, k, n, add);
    const panel = this.floats('panel', 8 * k + 32).byteOffset;
    const row = kind === 'ab' ? n : 1;
    const column = kind === 'ab' ? 1 : k;
    this.kernels.matMul(a.byteOffset, k, 1, b.byteOffset, row, column, out.byteOffset, m, k, n, panel, Number(add));
  }

  /** aᵀ · b for a [k, m]. */
  #transposedProduct(
    a: Float32Array,
    b: Float32Array,
    out: Float32Array,
    m: number,
    k: number,
    n: number,
    add: boolean,
  ) {
    const panel = this.floats('panel', 8 * rowsAtOnce + 32).byteOffset;
    const turned = this.floats('turned', rowsAtOnce * padded(m)).byteOffset;
    let begin = 0;
    do {
      const ofA = a.byteOffset + 4 * begin * m;
      const ofB = b.byteOffset + 4 * begin * n;
      const count = Math.min(rowsAtOnce, k - begin);
      this.kernels.turnedMatMul(ofA, ofB, out.byteOffset, m, count, n, turned, panel, Number(add || begin > 0));
      begin += rowsAtOnce;
    } while (begin < k);
  }

  groupProducts(
    a: Float32Array,
    ofA: Int32Array,
    b: Float32Array,
    ofB: Int32Array,
    width: number,
    out: Float32Array,
  ): void {
    eachGroup(ofA, ofB, (begin, m, from, n, at) => {
      this.matMul('abT', a.subarray(begin * width), b.subarray(from * width), out.subarray(at), m, width, n);
    });
  }

  groupProductsGrad(
    grads: Float32Array,
    a: Float32Array,
    ofA: Int32Array,
    b: Float32Array,
    ofB: Int32Array,
    width: number,
    da?: Float32Array,
    db?: Float32Array,
  ): void {
    eachGroup(ofA, ofB, (begin, m, from, n, at) => {
      const g = grads.subarray(at);
      if (da) this.matMul('ab', g, b.subarray(from * width), da.subarray(begin * width), m, n, width, true);
      if (db) this.matMul('aTb', g, a.subarray(begin * width), db.subarray(from * width), n, m, width, true);
    });
  }

  addBias(out: Float32Array, bias: Float32Array, rows: number, width: number): void {
    this.kernels.addBias(out.byteOffset, bias.byteOffset, rows, width);
  }

  addColumnSums(into: Float32Array, x: Float32Array, rows: number, width: number): void {
    const sums = this.floats('sums', width);
    this.kernels.columnSums(x.byteOffset, rows, width, sums.byteOffset);
    for (let j = 0; j < width; j++) into[j]! += sums[j]!;
  }

  activate(kind: Activation, out: Float32Array, length: number): void {
    this.kernels[`${kind}All`](out.byteOffset, length);
  }

  activateGrad(kind: Activation, grads: Float32Array, out: Float32Array, length: number): void {
    this.kernels[`${kind}Grad`](grads.byteOffset, out.byteOffset, length);
  }

  concat(out: Float32Array, blocks: readonly Block<Float32Array>[], rows: number): void {
    const width = blocks.reduce((sum, [, , , columns]) => sum + columns, 0);
    let begin = 0;
    for (const block of blocks) {
      this.kernels.copyBlock(...at([out, width, begin]), ...at(block), rows, block[3]);
      begin += block[3];
    }
  }

  addBlock(into: Block<Float32Array>, x: Block<Float32Array>, rows: number): void {
    this.kernels.addBlock(...at(into), ...at(x), rows, x[3]);
  }

  addScaled(into: Float32Array, x: Float32Array, length: number, scale: number): void {
    this.kernels.addScaled(into.byteOffset, x.byteOffset, length, scale);
  }

  addProducts(
    into: Float32Array,
    intoStep: number,
    a: Float32Array,
    b: Float32Array,
    bStep: number,
    rows: number,
    width: number,
  ): void {
    this.kernels.addProducts(into.byteOffset, intoStep, a.byteOffset, b.byteOffset, bStep, rows, width);
  }

  copyRows(out: Float32Array, table: Float32Array, index: Int32Array, width: number): void {
    this.kernels.copyRows(out.byteOffset, table.byteOffset, index.byteOffset, index.length, width);
  }

  addRows(out: Float32Array, table: Float32Array, index: Int32Array, width: number): void {
    this.kernels.addRows(out.byteOffset, table.byteOffset, index.byteOffset, index.length, width);
  }

  scatterRows(table: Float32Array, x: Float32Array, index: Int32Array, width: number): void {
    this.kernels.scatterRows(table.byteOffset, x.byteOffset, index.byteOffset, index.length, width);
  }

  addDots(
    out: Float32Array,
    x: Block<Float32Array>,
    left: Int32Array,
    y: Float32Array,
    right: Int32Array,
    scale: number,
  ): void {
    const [begin, width] = at(x);
    const [ofLeft, ofRight] = [left.byteOffset, right.byteOffset];
    this.kernels.addDots(out.byteOffset, begin, width, ofLeft, y.byteOffset, ofRight, x[3], left.length, scale);
  }

  addScaledRows(
    into: Block<Float32Array>,
    rows: Int32Array,
    by: Float32Array,
    scale: number,
    table: Block<Float32Array>,
    of: Int32Array,
  ): void {
    this.kernels.addScaledRows(
      ...([...at(into), rows.byteOffset, by.byteOffset, scale] as const),
      ...([...at(table), of.byteOffset, table[3], rows.length] as const),
    );
  }

  segmentLogSoftmax(
    x: Float32Array,
    out: Float32Array,
    offsets: Int32Array,
    columns: number,
    logWeights?: Float32Array,
  ): void {
    const term = (i: number, h: number) => x[i * columns + h]! + (logWeights ? logWeights[i]! : 0);
    for (let s = 0; s + 1 < offsets.length; s++) {
      const [begin, end] = [offsets[s]!, offsets[s + 1]!];
      for (let h = 0; h < columns; h++) {
        let max = -Infinity;
        for (let i = begin; i < end; i++) max = Math.max(max, term(i, h));
        let sum = 0;
        for (let i = begin; i < end; i++) sum += Math.exp(term(i, h) - max);
        const logSum = max + Math.log(sum);
        for (let i = begin; i < end; i++) out[i * columns + h] = x[i * columns + h]! - logSum;
      }
    }
  }

  /** dx[i] += dy[i] − exp(out[i] + w[i]) · Σ_j dy[j] */
  segmentLogSoftmaxGrad(
    into: Float32Array,
    grads: Float32Array,
    out: Float32Array,
    offsets: Int32Array,
    columns: number,
    logWeights?: Float32Array,
  ): void {
    for (let s = 0; s + 1 < offsets.length; s++) {
      const [begin, end] = [offsets[s]!, offsets[s + 1]!];
      for (let h = 0; h < columns; h++) {
        let sum = 0;
        for (let i = begin; i < end; i++) sum += grads[i * columns + h]!;
        for (let i = begin; i < end; i++) {
          const index = i * columns + h;
          into[index]! += grads[index]! - Math.exp(out[index]! + (logWeights ? logWeights[i]! : 0)) * sum;
        }
      }
    }
  }

  segmentMax(x: Float32Array, out: Float32Array, offsets: Int32Array): Int32Array {
    const which = new Int32Array(offsets.length - 1);
    for (let s = 0; s < which.length; s++) {
      let best = offsets[s]!;
      for (let i = best + 1; i < offsets[s + 1]!; i++) if (x[i]! > x[best]!) best = i;
      which[s] = best;
      out[s] = x[best]!;
    }
    return which;
  }

  segmentMaxGrad(into: Float32Array, grads: Float32Array, which: Int32Array): void {
    for (let s = 0; s < which.length; s++) into[which[s]!]! += grads[s]!;
  }

  logSumExp(x: Float32Array, out: Float32Array, rows: number, width: number): void {
    for (let row = 0; row < rows; row++) {
      let max = -Infinity;
      for (let i = row * width; i < (row + 1) * width; i++) max = Math.max(max, x[i]!);
      let sum = 0;
      for (let i = row * width; i < (row + 1) * width; i++) sum += Math.exp(x[i]! - max);
      out[row] = max + Math.log(sum);
    }
  }

  logSumExpGrad(
    into: Float32Array,
    grads: Float32Array,
    x: Float32Array,
    out: Float32Array,
    rows: number,
    width: number,
  ): void {
    for (let row = 0; row < rows; row++) {
      for (let i = row * width; i < (row + 1) * width; i++) into[i]! += grads[row]! * Math.exp(x[i]! - out[row]!);
    }
  }

  normalize(
    { kind, epsilon }: Normalization,
    x: Float32Array,
    out: Float32Array,
    rows: number,
    width: number,
  ): Float64Array {
    const norms = new Float64Array(rows);
    for (let row = 0; row < rows; row++) {
      const [begin, end] = [row * width, (row + 1) * width];
      let mean = 0;
      if (kind === 'layer') {
        for (let i = begin; i < end; i++) mean += x[i]!;
        mean /= width;
      }
      let square = 0;
      for (let i = begin; i < end; i++) square += (x[i]! - mean) ** 2;
      const norm = kind === 'unit' ? Math.sqrt(square) || 1 : Math.sqrt(square / width + epsilon);
      for (let i = begin; i < end; i++) out[i] = (x[i]! - mean) / norm;
      norms[row] = norm;
    }
    return norms;
  }

  normalizeGrad(
    { kind }: Normalization,
    into: Float32Array,
    grads: Float32Array,
    out: Float32Array,
    norms: Float64Array,
    rows: number,
    width: number,
  ): void {
    for (let row = 0; row < rows; row++) {
      const [begin, end] = [row * width, (row + 1) * width];
      let [mean, along] = [0, 0];
      for (let i = begin; i < end; i++) {
        mean += grads[i]!;
        along += grads[i]! * out[i]!;
      }
      mean = kind === 'layer' ? mean / width : 0;
      if (kind !== 'unit') along /= width;
      for (let i = begin; i < end; i++) into[i]! += (grads[i]! - mean - along * out[i]!) / norms[row]!;
    }
  }

  gruCell(
    given: Float32Array,
    own: Float32Array,
    past: Float32Array,
    gates: Float32Array,
    out: Float32Array,
    rows: number,
    width: number,
  ): void {
    this.kernels.gruCell(
      ...([given.byteOffset, own.byteOffset, past.byteOffset, gates.byteOffset, out.byteOffset] as const),
      ...([rows, width] as const),
    );
  }

  gruCellGrad(
    grads: Float32Array,
    own: Float32Array,
    past: Float32Array,
    gates: Float32Array,
    rows: number,
    width: number,
    ofGiven?: Float32Array,
    ofOwn?: Float32Array,
    ofPast?: Float32Array,
  ): void {
    this.kernels.gruCellGrad(
      ...([grads.byteOffset, own.byteOffset, past.byteOffset, gates.byteOffset] as const),
      ...([ofGiven?.byteOffset ?? 0, ofOwn?.byteOffset ?? 0, ofPast?.byteOffset ?? 0, rows, width] as const),
    );
  }

  roundBfloat16(x: Float32Array, out: Float32Array, length: number): void {
    out.set(roundedToBfloat16(x.subarray(0, length)));
  }

  sumSquares(x: Float32Array): Promise<number> {
    return Promise.resolve(this.kernels.sumSquares(x.byteOffset, x.length));
  }

  sum(x: Float32Array): Promise<number> {
    return Promise.resolve(this.kernels.sumAll(x.byteOffset, x.length));
  }

  adamStep(
    { whole: weights }: Run<Float32Array>,
    { whole: first }: Run<Float32Array>,
    { whole: second }: Run<Float32Array>,
    { whole: grads }: Run<Float32Array>,
    { beta1, beta2, gain, squareGain, rate, secondScale, epsilon, keep }: AdamStep,
  ): void {
    this.kernels.adamStep(
      ...([weights.byteOffset, first.byteOffset, second.byteOffset, grads.byteOffset, grads.length] as const),
      ...([beta1, gain, beta2, squareGain, rate, secondScale, epsilon, keep] as const),
    );
  }
}

/** Byte offset of a block, and values from one row to the next. */
const at = ([values, width, column]: readonly [Float32Array, number, number, number?]) =>
  [values.byteOffset + 4 * column, width] as const;
