/** The tape's primitives by stock operations of tfjs: on WebAssembly, the reference that other executors are held to, and on native TensorFlow. */
import type * as tfTypes from '@tensorflow/tfjs-core';
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
import { type Cell, TfjsMemory } from './memory.js';
import { commonLength, ofRows, padded } from './segments.js';

type Tensor = tfTypes.Tensor;
type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;
/** Columns of a GRU's update, reset and candidate. */
type Thirds = [Tensor2D, Tensor2D, Tensor2D];

/** Veltkamp's splitter for 24 − 16 significant bits. */
const splitter = 2 ** 16 + 1;

export class TfjsExecutor extends TfjsMemory implements Executor<Cell, Tensor1D> {
  matMul(kind: Product, a: Cell, b: Cell, out: Cell, m: number, k: number, n: number, add = false): void {
    if (!add) out.replace();
    if (k === 0) return;
    this.add(out, () => {
      const left = this.of<Tensor2D>(a, kind === 'aTb' ? [k, m] : [m, k]);
      return this.product(kind, left, this.of(b, kind === 'abT' ? [n, k] : [k, n]));
    });
  }

  groupProducts(a: Cell, ofA: Int32Array, b: Cell, ofB: Int32Array, width: number, out: Cell): void {
    this.put(out, () => {
      const groups: Tensor1D[] = [];
      eachGroup(ofA, ofB, (begin, m, from, n) => {
        const products = this.product('abT', this.rows(a, width, begin, m), this.rows(b, width, from, n));
        groups.push(this.tf.reshape(products, [m * n]));
      });
      return this.tf.concat(groups);
    });
  }

  groupProductsGrad(
    grads: Cell,
    a: Cell,
    ofA: Int32Array,
    b: Cell,
    ofB: Int32Array,
    width: number,
    da?: Cell,
    db?: Cell,
  ): void {
    const of = (at: number, m: number, n: number) =>
      this.tf.reshape(this.rows(grads, 1, at, m * n), [m, n]) as Tensor2D;
    if (da) {
      this.#addGroups(da, width, ofA, ofB, (begin, m, from, n, at) => [
        begin,
        this.product('ab', of(at, m, n), this.rows(b, width, from, n)),
      ]);
    }
    if (db) {
      this.#addGroups(db, width, ofA, ofB, (begin, m, from, n, at) => [
        from,
        this.product('aTb', of(at, m, n), this.rows(a, width, begin, m)),
      ]);
    }
  }

  addBias(out: Cell, bias: Cell, rows: number, width: number): void {
    this.put(out, () => this.tf.add(this.of(out, [rows, width]), this.of(bias, [width])));
  }

  addColumnSums(into: Cell, x: Cell, rows: number, width: number): void {
    if (rows > 0) this.add(into, () => this.tf.sum(this.of(x, [rows, width]), 0));
  }

  activate(kind: Activation, out: Cell): void {
    const { tf } = this;
    const f = { tanh: tf.tanh, relu: tf.relu, sigmoid: tf.sigmoid, exp: tf.exp, leaky: tf.leakyRelu }[kind];
    this.put(out, () => f(this.of(out)));
  }

  activateGrad(kind: Activation, grads: Cell, out: Cell): void {
    if (!grads.tensor) return;
    const { tf } = this;
    this.put(grads, () => {
      const y = this.of(out);
      const dy = this.of(grads, y.shape);
      if (kind === 'tanh') return tf.sub(dy, tf.mul(dy, tf.square(y)));
      if (kind === 'sigmoid') return tf.mul(dy, tf.mul(y, tf.sub(1, y)));
      if (kind === 'exp') return tf.mul(dy, y);
      // Of what is not negative: 0 or 1.
      if (kind === 'relu') return tf.mul(dy, tf.sign(y));
      return tf.where(tf.greater(y, 0), dy, tf.mul(dy, 0.2));
    });
  }

  concat(out: Cell, blocks: readonly Block<Cell>[], rows: number): void {
    this.put(out, () => {
      const all = blocks.map((block) => this.#columns(block, rows));
      return all.length === 1 ? all[0]! : this.tf.concat(all, 1);
    });
  }

  addBlock([into, width, column, columns]: Block<Cell>, x: Block<Cell>, rows: number): void {
    if (!x[0].tensor) return;
    this.add(into, () => this.#wide(this.#columns(x, rows), width, column, columns));
  }

  addScaled(into: Cell, x: Cell, _length: number, scale: number): void {
    if (!x.tensor) return;
    this.add(into, () => {
      return scale === 1 ? this.copy(x) : this.tf.mul(this.of(x), scale);
    });
  }

  addProducts(into: Cell, intoStep: number, a: Cell, b: Cell, bStep: number, rows: number, width: number): void {
    if (rows === 0) return;
    this.add(into, () => {
      const products = this.tf.mul(this.of(a, [rows, width]), this.of(b, bStep === 0 ? [1, width] : [rows, width]));
      return intoStep === 0 ? this.tf.sum(products, 0) : products;
    });
  }

  copyRows(out: Cell, table: Cell, index: Tensor1D, width: number): void {
    this.put(out, () => this.rowsOf(table, index, width));
  }

  addRows(out: Cell, table: Cell, index: Tensor1D, width: number): void {
    this.add(out, () => this.rowsOf(table, index, width));
  }

  scatterRows(table: Cell, x: Cell, index: Tensor1D, width: number): void {
    const { size } = index;
    if (size > 0) this.add(table, () => this.scatter(this.of(x, [size, width]), index, table, width));
  }

  addDots(out: Cell, x: Block<Cell>, left: Tensor1D, y: Cell, right: Tensor1D, scale: number): void {
    const { tf } = this;
    this.add(out, () => {
      const dots = tf.sum(tf.mul(this.#rowsOfBlock(x, left), this.rowsOf(y, right, x[3])), 1);
      return scale === 1 ? dots : tf.mul(dots, scale);
    });
  }

  addScaledRows(into: Block<Cell>, rows: Tensor1D, by: Cell, scale: number, table: Block<Cell>, of: Tensor1D): void {
    const { size } = rows;
    const [cell, width, column, columns] = into;
    if (size === 0) return;
    this.add(cell, () => {
      const weights = this.of(by, [size, 1]);
      const scaled = this.tf.mul(this.#rowsOfBlock(table, of), scale === 1 ? weights : this.tf.mul(weights, scale));
      return this.scatter(this.#wide(scaled as Tensor2D, width, column, columns), rows, cell, width);
    });
  }

  #rowsOfBlock([cell, width, column, columns]: Block<Cell>, index: Tensor1D): Tensor2D {
    const rows = this.rowsOf(cell, index, width);
    return columns === width ? rows : this.tf.slice(rows, [0, column], [index.size, columns]);
  }

  /** A block among zeros. */
  #wide(block: Tensor2D, width: number, column: number, columns: number): Tensor2D {
    if (columns === width) return block;
    return this.tf.pad(block, [
      [0, 0],
      [column, width - column - columns],
    ]);
  }

  segmentLogSoftmax(x: Cell, out: Cell, offsets: Int32Array, columns: number, logWeights?: Float32Array): void {
    const { tf } = this;
    this.put(out, () => {
      const count = out.length / columns;
      const scores = this.of<Tensor2D>(x, [count, columns]);
      const weighted = logWeights ? tf.add(scores, tf.tensor2d(logWeights, [count, 1])) : scores;
      const each = commonLength(offsets);
      if (each > 0)
        return this.#ofSegments(scores, tf.sub, each, tf.logSumExp(tf.reshape(weighted, [-1, each, columns]), 1, true));
      const { classes, place } = padded(offsets);
      const sums = classes.map(({ length, rows, added }) => {
        const all = tf.reshape(this.gather(weighted as Tensor2D, this.int32(rows)), [-1, length, columns]);
        return tf.logSumExp(tf.add(all, tf.tensor3d(added, [rows.length / length, length, 1])), 1) as Tensor2D;
      });
      return tf.sub(scores, this.gather(tf.concat(sums, 0), this.int32(ofRows(offsets, place))));
    });
  }

  segmentLogSoftmaxGrad(
    into: Cell,
    grads: Cell,
    out: Cell,
    offsets: Int32Array,
    columns: number,
    logWeights?: Float32Array,
  ): void {
    const { tf } = this;
    if (out.length === 0) return;
    this.add(into, () => {
      const count = out.length / columns;
      const [dy, y] = [grads, out].map((cell) => this.of<Tensor2D>(cell, [count, columns])) as [Tensor2D, Tensor2D];
      const weighted: Tensor2D = logWeights ? tf.add(y, tf.tensor2d(logWeights, [count, 1])) : y;
      const shares = tf.exp(weighted);
      const each = commonLength(offsets);
      if (each > 0) {
        const sums = tf.sum(tf.reshape(dy, [-1, each, columns]), 1, true);
        return tf.sub(dy, this.#ofSegments(shares, tf.mul, each, sums));
      }
      const segments = this.int32(ofRows(offsets));
      const sums = tf.scatterND(tf.reshape(segments, [count, 1]), dy, [offsets.length - 1, columns]) as Tensor2D;
      return tf.sub(dy, tf.mul(shares, this.gather(sums, segments)));
    });
  }

  segmentMax(x: Cell, out: Cell, offsets: Int32Array): Cell {
    const { tf } = this;
    if (out.length === 0) return out;
    const column = () => this.of<Tensor2D>(x, [x.length, 1]);
    const { classes, place } = padded(offsets);
    this.begin();
    out.kept = tf.tidy(() => {
      const places = classes.map(({ length, rows, added }) => {
        const all = tf.add(tf.reshape(this.gather(column(), this.int32(rows)), [-1]), tf.tensor1d(added));
        return tf.argMax(tf.reshape(all, [-1, length]), 1) as Tensor1D;
      });
      const ordered = tf.gather(tf.concat(places), this.int32(place));
      return tf.add(ordered, this.int32(offsets.slice(0, -1)));
    });
    this.put(out, () => this.gather(column(), out.kept as Tensor1D));
    return out;
  }

  segmentMaxGrad(into: Cell, grads: Cell, { kept }: Cell): void {
    if (kept) this.add(into, () => this.scatter(this.of(grads, [grads.length, 1]), kept as Tensor1D, into, 1));
  }

  logSumExp(x: Cell, out: Cell, rows: number, width: number): void {
    this.put(out, () => this.tf.logSumExp(this.of(x, [rows, width]), 1));
  }

  logSumExpGrad(into: Cell, grads: Cell, x: Cell, out: Cell, rows: number, width: number): void {
    const { tf } = this;
    this.add(into, () => {
      const shares = tf.exp(tf.sub(this.of(x, [rows, width]), this.of(out, [rows, 1])));
      return tf.mul(this.of(grads, [rows, 1]), shares);
    });
  }

  normalize({ kind, epsilon }: Normalization, x: Cell, out: Cell, rows: number, width: number): Cell {
    const { tf } = this;
    if (out.length === 0) return out;
    this.begin();
    const [values, norms] = tf.tidy(() => {
      const all = this.of(x, [rows, width]);
      const centred = kind === 'layer' ? tf.sub(all, tf.mean(all, 1, true)) : all;
      const squares = tf.sum(tf.square(centred), 1, true);
      const scale = tf.sqrt(kind === 'unit' ? squares : tf.add(tf.div(squares, width), epsilon));
      const own = kind !== 'unit' ? scale : tf.where(tf.greater(scale, 0), scale, tf.onesLike(scale));
      return [tf.div(centred, own), own] as [Tensor, Tensor];
    });
    out.replace(values);
    out.kept = norms;
    return out;
  }

  normalizeGrad(
    { kind }: Normalization,
    into: Cell,
    grads: Cell,
    out: Cell,
    { kept }: Cell,
    rows: number,
    width: number,
  ): void {
    const { tf } = this;
    if (!kept) return;
    this.add(into, () => {
      const [dy, y] = [grads, out].map((cell) => this.of(cell, [rows, width])) as [Tensor, Tensor];
      const along = tf.mul(y, (kind === 'unit' ? tf.sum : tf.mean)(tf.mul(dy, y), 1, true));
      const rest = tf.sub(kind === 'layer' ? tf.sub(dy, tf.mean(dy, 1, true)) : dy, along);
      return tf.div(rest, kept);
    });
  }

  gruCell(given: Cell, own: Cell, past: Cell, gates: Cell, out: Cell, rows: number, width: number): void {
    if (rows === 0) return;
    const { tf } = this;
    this.put(gates, () => {
      const [x, u] = [given, own].map((cell) => this.#thirds(cell, rows, width)) as [Thirds, Thirds];
      const [z, r] = [0, 1].map((k) => tf.sigmoid(tf.add(x[k]!, u[k]!))) as [Tensor2D, Tensor2D];
      return tf.concat([z, r, tf.tanh(tf.add(x[2], tf.mul(r, u[2])))], 1);
    });
    this.put(out, () => {
      const [z, , c] = this.#thirds(gates, rows, width);
      return tf.add(c, tf.mul(z, tf.sub(this.of(past, [rows, width]), c)));
    });
  }

  gruCellGrad(
    grads: Cell,
    own: Cell,
    past: Cell,
    gates: Cell,
    rows: number,
    width: number,
    ofGiven?: Cell,
    ofOwn?: Cell,
    ofPast?: Cell,
  ): void {
    if (rows === 0 || !grads.tensor) return;
    const { tf } = this;
    const bend = (y: Tensor) => tf.mul(y, tf.sub(1, y));
    const parts = (byPast: boolean) => {
      const [z, r, c] = this.#thirds(gates, rows, width);
      const dy = this.of(grads, [rows, width]);
      const ofC = tf.mul(tf.mul(dy, tf.sub(1, z)), tf.sub(1, tf.square(c)));
      const ofZ = tf.mul(tf.mul(dy, tf.sub(this.of(past, [rows, width]), c)), bend(z));
      const ofR = tf.mul(tf.mul(ofC, this.#thirds(own, rows, width)[2]), bend(r));
      return tf.concat([ofZ, ofR, byPast ? tf.mul(ofC, r) : ofC], 1);
    };
    if (ofGiven) this.add(ofGiven, () => parts(false));
    if (ofOwn) this.add(ofOwn, () => parts(true));
    if (ofPast) this.add(ofPast, () => tf.mul(this.of(grads, [rows, width]), this.#thirds(gates, rows, width)[0]));
  }

  #thirds(cell: Cell, rows: number, width: number): Thirds {
    return this.tf.split(this.of<Tensor2D>(cell, [rows, 3 * width]), 3, 1) as Thirds;
  }

  /**
   * To the bit, though there are no operations on bits; only numbers below 2^-126 keep more of them, and those from 2^111 on may become NaN.
   * @source Veltkamp's splitting, in Dekker 1971, doi:10.1007/BF01397083
   */
  roundBfloat16(x: Cell, out: Cell): void {
    const { tf } = this;
    this.put(out, () => {
      const own = this.of(x);
      const wide = tf.mul(own, splitter);
      return tf.sub(wide, tf.sub(wide, own));
    });
  }

  adamStep(
    weights: Run<Cell>,
    first: Run<Cell>,
    second: Run<Cell>,
    grads: Run<Cell>,
    { beta1, beta2, gain, squareGain, rate, secondScale, epsilon, keep }: AdamStep,
  ): void {
    const { tf } = this;
    weights.parts.forEach((weight, i) => {
      const [m, v, grad] = [first.parts[i]!, second.parts[i]!, grads.parts[i]!];
      const moved = (moment: Cell, beta: number, by: number, term: (g: Tensor) => Tensor) =>
        this.put(moment, () => {
          const before = tf.mul(this.of(moment, [moment.length]), beta);
          return grad.tensor ? tf.add(before, tf.mul(term(this.of(grad, [grad.length])), by)) : before;
        });
      moved(m, beta1, gain, (g) => g);
      moved(v, beta2, squareGain, (g) => tf.square(g));
      this.put(weight, () => {
        const [own, mean, square] = [weight, m, v].map((cell) => this.of(cell, [weight.length])) as [
          Tensor,
          Tensor,
          Tensor,
        ];
        const by = tf.add(tf.mul(tf.sqrt(square), secondScale), epsilon);
        return tf.sub(keep === 1 ? own : tf.mul(own, keep), tf.div(tf.mul(mean, rate), by));
      });
    });
  }

  /** Combines rows with a row of each segment; all have one length. */
  #ofSegments(rows: Tensor2D, combine: (a: Tensor, b: Tensor) => Tensor, length: number, ofSegments: Tensor): Tensor {
    const { tf } = this;
    return tf.reshape(combine(tf.reshape(rows, [-1, length, rows.shape[1]]), ofSegments), rows.shape);
  }

  #columns([x, width, column, columns]: Block<Cell>, rows: number): Tensor2D {
    const whole: [number, number] = [rows, width];
    if (columns === width) return this.copy(x, whole);
    return this.tf.slice(this.of<Tensor2D>(x, whole), [0, column], [rows, columns]);
  }

  /** Adds a block of rows of each group, which begins at a row of the table. */
  #addGroups(
    into: Cell,
    width: number,
    ofA: Int32Array,
    ofB: Int32Array,
    blockOf: (...group: Parameters<Parameters<typeof eachGroup>[2]>) => [begin: number, block: Tensor2D],
  ): void {
    const { tf } = this;
    this.add(into, () => {
      const blocks: Tensor2D[] = [];
      let row = 0;
      const zerosTo = (next: number) => {
        if (next > row) blocks.push(tf.zeros([next - row, width]));
        row = next;
      };
      eachGroup(ofA, ofB, (...group) => {
        const [begin, block] = blockOf(...group);
        zerosTo(begin);
        blocks.push(block);
        row += block.shape[0];
      });
      zerosTo(into.length / width);
      return tf.concat(blocks, 0);
    });
  }
}
