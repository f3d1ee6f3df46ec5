/** Reverse-mode autodiff over matrices: the operations of networks with their gradients. */
import { Rng } from '../run/seeds.js';
import type { Activation, Block, Normalization, Numbers, PickedRows, Rows } from './executor.js';
import { Recording, type Taped } from './recording.js';

export type { Outputs, Taped } from './recording.js';

/** Generators of dropout: one for all rows in turn, or one for each run of rows, whose dropout then does not depend on the other runs. */
export type Dropping = Rng | readonly Rng[];

/** A table with the row of it that each row of a result reads. */
export type Gathered<N extends Numbers = Numbers> = readonly [table: Taped<N>, index: Int32Array];

/** Row numbers of the host, or those that a queue picked. */
export type Places<R extends Rows = Rows> = Int32Array | (R & PickedRows);

/** Operations over the parameters of one network. Where rows are independent, a row's numbers do not depend on the others. */
export class Tape<N extends Numbers = Numbers, R extends Rows = Rows> extends Recording<N, R> {
  /** Room for what dropout keeps. */
  #kept = new Float32Array(0);

  /** act(x · w), or act(x · wᵀ). */
  product(x: Taped<N>, w: Taped<N>, transposed = false, act?: Activation): Taped<N> {
    return this.#affine(x, w, { transposed, act });
  }

  /** act(x · W + b) for the parameters `NAME` and `BIAS`. @param width of the output @param bias default `NAME.bias` */
  dense(x: Taped<N>, name: string, width: number, bias = `${name}.bias`, act?: Activation): Taped<N> {
    return this.#affine(x, this.parameter(name, width), { b: this.parameter(bias, width), act });
  }

  #affine(
    x: Taped<N>,
    w: Taped<N>,
    { b, transposed = false, act }: { b?: Taped<N>; transposed?: boolean; act?: Activation | undefined },
  ): Taped<N> {
    const { executor: on } = this;
    const [m, k, n] = [x.rows, x.width, transposed ? w.rows : w.width];
    const out = this.scope.take(m * n);
    on.matMul(transposed ? 'abT' : 'ab', x.values, w.values, out, m, k, n);
    if (b) on.addBias(out, b.values, m, n);
    if (act) on.activate(act, out, m * n);
    return this.result(out, [m, n], b ? [x, w, b] : [x, w], (grads) => {
      if (act) on.activateGrad(act, grads, out, m * n);
      if (b?.grads) on.addColumnSums(b.grads, grads, m, n);
      if (w.grads && transposed) on.matMul('aTb', grads, x.values, w.grads, n, m, k, true);
      else if (w.grads) on.matMul('aTb', x.values, grads, w.grads, k, m, n, true);
      if (x.grads) on.matMul(transposed ? 'ab' : 'abT', grads, w.values, x.grads, m, n, k, true);
    });
  }

  /** The same by the shape of `NAME`. */
  layer(x: Taped<N>, name: string, act?: Activation): Taped<N> {
    return this.dense(x, name, this.parameter(name).width, undefined, act);
  }

  /** act(x · NAME), without a bias. */
  times(x: Taped<N>, name: string, act?: Activation): Taped<N> {
    return this.product(x, this.parameter(name), false, act);
  }

  /** A function of each number. */
  activated(kind: Activation, x: Taped<N>): Taped<N> {
    const length = x.rows * x.width;
    const out = this.#copy(x);
    this.executor.activate(kind, out, length);
    return this.result(out, [x.rows, x.width], [x], (grads) => {
      this.executor.activateGrad(kind, grads, out, length);
      this.addTo(x, grads);
    });
  }

  tanh(x: Taped<N>): Taped<N> {
    return this.activated('tanh', x);
  }

  relu(x: Taped<N>): Taped<N> {
    return this.activated('relu', x);
  }

  sigmoid(x: Taped<N>): Taped<N> {
    return this.activated('sigmoid', x);
  }

  exp(x: Taped<N>): Taped<N> {
    return this.activated('exp', x);
  }

  /** x + scale · y, number by number. */
  add(x: Taped<N>, y: Taped<N>, scale = 1): Taped<N> {
    const length = x.rows * x.width;
    const out = this.#copy(x);
    this.executor.addScaled(out, y.values, length, scale);
    return this.result(out, [x.rows, x.width], [x, y], (grads) => {
      this.addTo(x, grads);
      this.addTo(y, grads, scale);
    });
  }

  scaled(x: Taped<N>, by: number): Taped<N> {
    return this.add(this.zeros(x.rows, x.width), x, by);
  }

  /** A bias [1, width] on each row. */
  biased(x: Taped<N>, bias: Taped<N>): Taped<N> {
    const { rows, width } = x;
    const out = this.#copy(x);
    this.executor.addBias(out, bias.values, rows, width);
    return this.result(out, [rows, width], [x, bias], (grads) => {
      this.addTo(x, grads);
      if (bias.grads) this.executor.addColumnSums(bias.grads, grads, rows, width);
    });
  }

  /** Number by number; `y` may be one row, by which each row of `x` is multiplied. */
  multiply(x: Taped<N>, y: Taped<N>): Taped<N> {
    const { executor: on } = this;
    const { rows, width } = x;
    const step = y.rows === 1 ? 0 : width;
    const out = this.scope.zeros(rows * width);
    on.addProducts(out, width, x.values, y.values, step, rows, width);
    return this.result(out, [rows, width], [x, y], (grads) => {
      if (x.grads) on.addProducts(x.grads, width, grads, y.values, step, rows, width);
      if (y.grads) on.addProducts(y.grads, step, grads, x.values, width, rows, width);
    });
  }

  /** The same numbers in rows of another width. */
  reshape({ rows, width, values, grads }: Taped<N>, wide: number): Taped<N> {
    return { rows: (rows * width) / wide, width: wide, values, grads };
  }

  /** Rows of a table. @param index int32 [rows of the result] */
  rows(table: Taped<N>, index: Places<R>): Taped<N> {
    const { executor: on } = this;
    const { width } = table;
    const which = this.scope.rows(index);
    const out = this.scope.take(index.length * width);
    on.copyRows(out, table.values, which, width);
    return this.result(out, [index.length, width], [table], (grads) => {
      if (table.grads) on.scatterRows(table.grads, grads, which, width);
    });
  }

  /** Concatenates rows of as many matrices. */
  concat(parts: readonly Taped<N>[]): Taped<N> {
    const width = parts.reduce((sum, part) => sum + part.width, 0);
    const { rows } = parts[0]!;
    const out = this.scope.take(rows * width);
    const blocks = parts.map(({ values, width: own }) => [values, own, 0, own] as const);
    this.executor.concat(out, blocks, rows);
    return this.result(out, [rows, width], parts, (grads) => {
      let column = 0;
      for (const { grads: into, width: own } of parts) {
        if (into) this.executor.addBlock([into, own, 0, own], [grads, width, column, own], rows);
        column += own;
      }
    });
  }

  /** Matrices of one width, one below the other. */
  stack(parts: readonly Taped<N>[]): Taped<N> {
    if (parts.length === 1) return parts[0]!;
    const { width } = parts[0]!;
    return this.reshape(this.concat(parts.map(flat)), width);
  }

  /** Columns `from .. from + count - 1` of each row. */
  columns(x: Taped<N>, from: number, count: number): Taped<N> {
    const { rows, width } = x;
    const out = this.scope.take(rows * count);
    const part = (of: N): Block<N> => [of, width, from, count];
    this.executor.concat(out, [part(x.values)], rows);
    return this.result(out, [rows, count], [x], (grads) => {
      if (x.grads) this.executor.addBlock(part(x.grads), [grads, count, 0, count], rows);
    });
  }

  /** Rows `from .. from + count - 1`. */
  slice(x: Taped<N>, from: number, count: number): Taped<N> {
    const { values, grads } = this.columns(flat(x), from * x.width, count * x.width);
    return { rows: count, width: x.width, values, grads };
  }

  /** Sums of one row of each table, plus `x · w`. @param parts tables of one width */
  sumOfRows(
    parts: readonly Gathered<N>[],
    { base, act }: { base?: readonly [x: Taped<N>, w: Taped<N>] | undefined; act?: Activation } = {},
  ): Taped<N> {
    const { executor: on } = this;
    const { width } = parts[0]![0];
    const rows = parts[0]![1].length;
    const copied = parts.map(([table, index]) => [table, this.scope.rows(index)] as const);
    const out = this.scope.take(rows * width);
    if (base) on.matMul('ab', base[0].values, base[1].values, out, rows, base[0].width, width);
    copied.forEach(([{ values }, index], i) => {
      if (i === 0 && !base) on.copyRows(out, values, index, width);
      else on.addRows(out, values, index, width);
    });
    if (act) on.activate(act, out, rows * width);
    return this.result(out, [rows, width], [...parts.map(([table]) => table), ...(base ?? [])], (grads) => {
      if (act) on.activateGrad(act, grads, out, rows * width);
      if (base) {
        const [x, w] = base;
        if (w.grads) on.matMul('aTb', x.values, grads, w.grads, x.width, rows, width, true);
        if (x.grads) on.matMul('abT', grads, w.values, x.grads, rows, width, x.width, true);
      }
      for (const [{ grads: into }, index] of copied) if (into) on.scatterRows(into, grads, index, width);
    });
  }

  /** Dot products of pairs of rows, times `scale`: [left.length, 1]. */
  dots(x: Taped<N>, left: Places<R>, y: Taped<N>, right: Places<R>, scale = 1): Taped<N> {
    return this.dotsOfParts(x, left, [[y, right]], scale);
  }

  /** The same with rows of several tables side by side. @param parts tables, together as wide as `x`, and their rows */
  dotsOfParts(
    x: Taped<N>,
    left: Places<R>,
    parts: readonly (readonly [table: Taped<N>, index: Places<R>])[],
    scale = 1,
  ): Taped<N> {
    const { executor: on } = this;
    const l = this.scope.rows(left);
    let column = 0;
    const placed = parts.map(([table, index]) => {
      const begin = column;
      column += table.width;
      const block = (of: N): Block<N> => [of, x.width, begin, table.width];
      return { table, right: this.scope.rows(index), block };
    });
    const out = this.scope.zeros(left.length);
    for (const { table, right, block } of placed) on.addDots(out, block(x.values), l, table.values, right, scale);
    const tables = parts.map(([table]) => table);
    return this.result(out, [left.length, 1], [x, ...tables], (grads) => {
      for (const { table, right, block } of placed) {
        const { width, values } = table;
        if (x.grads) on.addScaledRows(block(x.grads), l, grads, scale, [values, width, 0, width], right);
        if (table.grads) on.addScaledRows([table.grads, width, 0, width], right, grads, scale, block(x.values), l);
      }
    });
  }

  /**
   * Sums of weighted rows: out[into[i]] += weights[i] · table[from[i]].
   * @param weights [pairs, 1]
   * @param rows of the result; those that nothing is added to are zeros
   */
  weightedSums(weights: Taped<N>, table: Taped<N>, into: Int32Array, from: Int32Array, rows: number): Taped<N> {
    const { executor: on } = this;
    const { width } = table;
    const [l, r] = [this.scope.rows(into), this.scope.rows(from)];
    const out = this.scope.zeros(rows * width);
    const whole = (of: N): Block<N> => [of, width, 0, width];
    on.addScaledRows(whole(out), l, weights.values, 1, whole(table.values), r);
    return this.result(out, [rows, width], [weights, table], (grads) => {
      if (weights.grads) on.addDots(weights.grads, whole(grads), l, table.values, r, 1);
      if (table.grads) on.addScaledRows(whole(table.grads), r, weights.values, 1, whole(grads), l);
    });
  }

  /**
   * Products of the rows of each group of `x` with those of the same group of `y`.
   * @param ofX int32 [groups + 1]: rows of `x` of group g are `ofX[g] .. ofX[g + 1] - 1`; likewise `ofY`
   * @returns products of all pairs, [pairs, 1]: of each group (its rows of x) × (its rows of y), one behind the other
   */
  groupProducts(x: Taped<N>, ofX: Int32Array, y: Taped<N>, ofY: Int32Array): Taped<N> {
    const { width } = x;
    let pairs = 0;
    for (let g = 0; g + 1 < ofX.length; g++) pairs += (ofX[g + 1]! - ofX[g]!) * (ofY[g + 1]! - ofY[g]!);
    const out = this.scope.take(pairs);
    this.executor.groupProducts(x.values, ofX, y.values, ofY, width, out);
    return this.result(out, [pairs, 1], [x, y], (grads) => {
      this.executor.groupProductsGrad(grads, x.values, ofX, y.values, ofY, width, x.grads, y.grads);
    });
  }

  /**
   * Sums of the rows of each group of `y`, weighted for each row of the same group of `x`.
   * @param weights as `groupProducts` gives them for these groups
   * @returns [rows of x, width of y]
   */
  groupSums(weights: Taped<N>, ofX: Int32Array, y: Taped<N>, ofY: Int32Array): Taped<N> {
    const { executor: on, scope } = this;
    const { width } = y;
    const rows = ofX.at(-1)!;
    const out = scope.zeros(rows * width);
    // The same sums as the gradient of the products by their left factor.
    on.groupProductsGrad(weights.values, out, ofX, y.values, ofY, width, out);
    return this.result(out, [rows, width], [weights, y], (grads) => {
      if (weights.grads) {
        const products = scope.take(weights.rows);
        on.groupProducts(grads, ofX, y.values, ofY, width, products);
        on.addScaled(weights.grads, products, weights.rows, 1);
      }
      if (y.grads) on.groupProductsGrad(weights.values, grads, ofX, y.values, ofY, width, undefined, y.grads);
    });
  }

  /**
   * Log-softmax of each column within each segment of rows: out[i, h] = x[i, h] − ln Σ_j exp(x[j, h] + w[j]), j in the segment of i.
   * @param offsets int32 [segments + 1]: rows of segment s are `offsets[s] .. offsets[s + 1] - 1`; none may be empty
   * @param logWeights float32 [rows], ln of how many each row stands for; default 0
   */
  segmentLogSoftmax(x: Taped<N>, offsets: Int32Array, logWeights?: Float32Array): Taped<N> {
    const { rows, width } = x;
    const out = this.scope.take(rows * width);
    this.executor.segmentLogSoftmax(x.values, out, offsets, width, logWeights);
    return this.result(out, [rows, width], [x], (grads) => {
      if (x.grads) this.executor.segmentLogSoftmaxGrad(x.grads, grads, out, offsets, width, logWeights);
    });
  }

  /** The largest number of each segment: [segments, 1]. @param x [rows, 1] @param offsets as above */
  segmentMax(x: Taped<N>, offsets: Int32Array): Taped<N> {
    const segments = offsets.length - 1;
    const out = this.scope.take(segments);
    const which = this.executor.segmentMax(x.values, out, offsets);
    return this.result(out, [segments, 1], [x], (grads) => {
      if (x.grads) this.executor.segmentMaxGrad(x.grads, grads, which);
    });
  }

  /** ln Σ exp of each row: [rows, 1]. */
  logSumExp(x: Taped<N>): Taped<N> {
    const { rows, width } = x;
    const out = this.scope.take(rows);
    this.executor.logSumExp(x.values, out, rows, width);
    return this.result(out, [rows, 1], [x], (grads) => {
      if (x.grads) this.executor.logSumExpGrad(x.grads, grads, x.values, out, rows, width);
    });
  }

  /**
   * Attention of each query over the rows of its segment: Σ_j softmax_j(query · x_j) x_j.
   * @param offsets int32 [queries + 1]: rows of query `i` are `offsets[i] .. offsets[i + 1] - 1`; at least one
   * @returns [queries, width]
   */
  attend(query: Taped<N>, x: Taped<N>, offsets: Int32Array): Taped<N> {
    const each = Int32Array.from(offsets.keys());
    const shares = this.exp(this.segmentLogSoftmax(this.groupProducts(query, each, x, offsets), offsets));
    return this.groupSums(shares, each, x, offsets);
  }

  /**
   * A step of a GRU: z ⊙ past + (1 − z) ⊙ c, where z = σ(given + own), r = σ(given + own), c = tanh(given + r ⊙ own).
   * @param given [rows, 3 · width]: what the inputs bring to z, r and c
   * @param own [rows, 3 · width]: what the past states bring
   * @param past [rows, width]
   */
  gruCell(given: Taped<N>, own: Taped<N>, past: Taped<N>): Taped<N> {
    const { executor: on } = this;
    const { rows, width } = past;
    const [out, gates] = [this.scope.take(rows * width), this.scope.take(rows * 3 * width)];
    on.gruCell(given.values, own.values, past.values, gates, out, rows, width);
    return this.result(out, [rows, width], [given, own, past], (grads) => {
      const into = [given.grads, own.grads, past.grads] as const;
      on.gruCellGrad(grads, own.values, past.values, gates, rows, width, ...into);
    });
  }

  /** Log-softmax of each row. */
  logSoftmax(x: Taped<N>): Taped<N> {
    const each = Int32Array.from({ length: x.rows + 1 }, (_, row) => row * x.width);
    return this.reshape(this.segmentLogSoftmax(this.reshape(x, 1), each), x.width);
  }

  /** Sums of each row: [rows, 1]. */
  sums(x: Taped<N>): Taped<N> {
    return this.product(x, { rows: x.width, width: 1, values: this.scope.copy(new Float32Array(x.width).fill(1)) });
  }

  /** Rows of length 1; a row of zeros stays. */
  unit(x: Taped<N>): Taped<N> {
    return this.#normalized({ kind: 'unit', epsilon: 0 }, x);
  }

  /** Rows to mean 0 and variance 1, times `NAME.gain` plus `NAME.bias`. @source Ba et al. 2016, arXiv:1607.06450 */
  layerNorm(x: Taped<N>, name: string): Taped<N> {
    const { width } = x;
    const unit = this.#normalized({ kind: 'layer', epsilon: 1e-5 }, x);
    const scaled = this.multiply(unit, this.parameter(`${name}.gain`, width));
    return this.biased(scaled, this.parameter(`${name}.bias`, width));
  }

  /** x / √(mean x² + epsilon) · gain, row by row. @param gain one row @source Zhang and Sennrich 2019, arXiv:1910.07467 */
  rmsNorm(x: Taped<N>, gain: Taped<N>, epsilon: number): Taped<N> {
    return this.multiply(this.#normalized({ kind: 'rms', epsilon }, x), gain);
  }

  #normalized(by: Normalization, x: Taped<N>): Taped<N> {
    const { rows, width } = x;
    const out = this.scope.take(rows * width);
    const scales = this.executor.normalize(by, x.values, out, rows, width);
    return this.result(out, [rows, width], [x], (grads) => {
      if (x.grads) this.executor.normalizeGrad(by, x.grads, grads, out, scales, rows, width);
    });
  }

  /** To the nearest bfloat16; gradients pass as if nothing were rounded. */
  bfloat16(x: Taped<N>): Taped<N> {
    const out = this.scope.take(x.rows * x.width);
    this.executor.roundBfloat16(x.values, out, x.rows * x.width);
    return this.result(out, [x.rows, x.width], [x], (grads) => this.addTo(x, grads));
  }

  /**
   * Each number is left out with this probability and the others grow by what is missing. Without a generator: `x` itself.
   * @param offsets int32 [generators + 1]: rows of generator `i` are `offsets[i] .. offsets[i + 1] - 1`; default one row each
   */
  dropout(x: Taped<N>, rate: number, dropping: Dropping | undefined, offsets?: Int32Array): Taped<N> {
    if (dropping === undefined || rate === 0) return x;
    const length = x.rows * x.width;
    if (this.#kept.length < length) this.#kept = new Float32Array(length);
    const kept = this.#kept.subarray(0, length);
    const [below, scale] = [rate * 2 ** 32, 1 / (1 - rate)];
    const draw = (rng: Rng, begin: number, end: number) => {
      // Without a branch, which a processor would guess wrong.
      for (let i = begin; i < end; i++) kept[i] = Number(rng.uint32() >= below) * scale;
    };
    const rowOf = (i: number) => (offsets ? offsets[i]! : i) * x.width;
    if (dropping instanceof Rng) draw(dropping, 0, length);
    else dropping.forEach((rng, i) => draw(rng, rowOf(i), rowOf(i + 1)));
    return this.multiply(x, this.constant(kept, x.width));
  }

  #copy({ rows, width, values }: Taped<N>): N {
    const length = rows * width;
    const out = this.scope.take(length);
    this.executor.concat(out, [[values, length, 0, length]], 1);
    return out;
  }
}

/** The same numbers in one row. */
function flat<N extends Numbers>({ rows, width, values, grads }: Taped<N>): Taped<N> {
  return { rows: 1, width: rows * width, values, grads };
}
