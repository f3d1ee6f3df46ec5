/** Reverse-mode autodiff on the host by SIMD kernels, for networks of a few hundred rows, where the calls of a tensor library cost more. */
import { WorkbenchError } from '../../run/errors.js';
import { Rng } from '../../run/seeds.js';
import type { HostOutputs, HostParameters } from './host-parameters.js';
import { HostProducts } from './host-products.js';

/** Numbers that were computed, float32 [rows, width], row-major, and the gradients by them. Valid until the tape's next `begin`. */
export interface Taped {
  readonly rows: number;
  readonly width: number;
  readonly values: Float32Array;
  /** Added to on the backward pass; absent of what nothing is learned behind. */
  readonly grads?: Float32Array | undefined;
}

/** Generators of dropout: one for all rows in turn, or one for each run of rows, whose dropout then does not depend on the other runs. */
export type Dropping = Rng | readonly Rng[];

/** Records one computation at a time over the parameters of one network. A row's numbers do not depend on the other rows. */
export class Tape {
  readonly products: HostProducts;
  readonly #backward: (() => void)[] = [];
  #taken = 0;
  #numbers = 0;
  #prefix = '';
  #computation = 0;

  /** @param records whether gradients are computed; without, tensors have none */
  constructor(
    readonly parameters: HostParameters,
    readonly records = true,
  ) {
    this.products = new HostProducts(parameters.arena, parameters.kernels);
  }

  /** Starts another computation; its buffers are reused. */
  begin(): void {
    this.#backward.length = 0;
    this.#taken = 0;
    this.#numbers = 0;
    this.#computation++;
  }

  /** float32 [length] of any values, until the next `begin`; up to 3 values behind its end may be changed. */
  buffer(length: number): Float32Array {
    return this.products.floats(`tape ${this.#taken++}`, length);
  }

  /** Copy in the memory of the kernels, until the next `begin`. */
  index(values: Int32Array): Int32Array {
    return this.products.numbers(`tape ${this.#numbers++}`, values);
  }

  /** A trained matrix [any, width], or a bias as one row. */
  parameter(name: string, width: number): Taped {
    const whole = this.#prefix + name;
    const values = this.parameters.value(whole);
    return { rows: values.length / width, width, values, grads: this.parameters.grad(whole) };
  }

  /** Records operations on parameters whose names begin with `prefix`: a second network of the same kind. */
  under<Made>(prefix: string, record: () => Made): Made {
    const before = this.#prefix;
    this.#prefix += prefix;
    try {
      return record();
    } finally {
      this.#prefix = before;
    }
  }

  /** Copies constants. */
  constant(values: Float32Array, width: number): Taped {
    const copy = this.buffer(values.length);
    copy.set(values);
    return { rows: values.length / width, width, values: copy };
  }

  /**
   * Result of a custom operation.
   * @param values from `buffer`
   * @param backward adds to the gradients of what it was computed of
   */
  taped(values: Float32Array, width: number, backward: (grads: Float32Array) => void): Taped {
    const rows = width === 0 ? 0 : values.length / width;
    if (!this.records) return { rows, width, values };
    const grads = this.buffer(values.length).fill(0);
    this.#backward.push(() => backward(grads));
    return { rows, width, values, grads };
  }

  /** x · w */
  product(x: Taped, w: Taped): Taped {
    const out = this.buffer(x.rows * w.width);
    this.products.product(x.values, x.rows, x.width, w.values, w.width, out);
    return this.taped(out, w.width, (grads) => {
      if (w.grads) this.products.weights(x.values, x.rows, x.width, grads, w.width, w.grads);
      if (x.grads) this.products.back(grads, x.rows, w.width, w.values, x.width, x.grads, true);
    });
  }

  /**
   * act(x · W + b) for the parameters `NAME` and `BIAS`.
   * @param width of the output
   * @param bias default `NAME.bias`
   */
  dense(x: Taped, name: string, width: number, bias = `${name}.bias`, act?: 'relu' | 'tanh'): Taped {
    const { kernels } = this.parameters;
    const [w, b] = [this.parameter(name, width), this.parameter(bias, width)];
    const out = this.buffer(x.rows * width);
    this.products.biased(x.values, x.rows, x.width, w.values, b.values, out);
    if (act) kernels[`${act}All`](out.byteOffset, out.length);
    return this.taped(out, width, (grads) => {
      if (act) kernels[`${act}Grad`](grads.byteOffset, out.byteOffset, out.length);
      this.products.bias(grads, x.rows, b.grads!);
      this.products.weights(x.values, x.rows, x.width, grads, width, w.grads!);
      if (x.grads) this.products.back(grads, x.rows, width, w.values, x.width, x.grads, true);
    });
  }

  tanh(x: Taped): Taped {
    return this.#activated(x, 'tanh');
  }

  relu(x: Taped): Taped {
    return this.#activated(x, 'relu');
  }

  #activated(x: Taped, act: 'relu' | 'tanh'): Taped {
    const { kernels } = this.parameters;
    const out = this.#copy(x);
    kernels[`${act}All`](out.byteOffset, out.length);
    return this.taped(out, x.width, (grads) => {
      kernels[`${act}Grad`](grads.byteOffset, out.byteOffset, out.length);
      this.#add(x.grads, grads);
    });
  }

  add(x: Taped, y: Taped): Taped {
    const out = this.#copy(x);
    this.#add(out, y.values);
    return this.taped(out, x.width, (grads) => {
      this.#add(x.grads, grads);
      this.#add(y.grads, grads);
    });
  }

  /** Number by number; `y` may be one row, by which each row of `x` is multiplied. */
  multiply(x: Taped, y: Taped): Taped {
    const { kernels } = this.parameters;
    const { rows, width } = x;
    const row = y.rows === 1 ? 0 : width;
    const out = this.buffer(x.values.length).fill(0);
    kernels.addProducts(out.byteOffset, width, x.values.byteOffset, y.values.byteOffset, row, rows, width);
    return this.taped(out, width, ({ byteOffset: grads }) => {
      if (x.grads) kernels.addProducts(x.grads.byteOffset, width, grads, y.values.byteOffset, row, rows, width);
      if (y.grads) kernels.addProducts(y.grads.byteOffset, row, grads, x.values.byteOffset, width, rows, width);
    });
  }

  /** Rows of a table. @param index int32 [rows of what comes out] */
  rows(table: Taped, index: Int32Array): Taped {
    const { kernels } = this.parameters;
    const copied = this.index(index);
    const { width } = table;
    const out = this.buffer(copied.length * width);
    kernels.copyRows(out.byteOffset, table.values.byteOffset, copied.byteOffset, copied.length, width);
    return this.taped(out, width, (grads) => {
      if (!table.grads) return;
      kernels.scatterRows(table.grads.byteOffset, grads.byteOffset, copied.byteOffset, copied.length, width);
    });
  }

  /** Concatenates rows. */
  concat(parts: readonly Taped[]): Taped {
    const width = parts.reduce((sum, part) => sum + part.width, 0);
    const { rows } = parts[0]!;
    const out = this.buffer(rows * width);
    const { kernels } = this.parameters;
    let begin = out.byteOffset;
    for (const { values, width: own } of parts) {
      kernels.copyBlock(begin, width, values.byteOffset, own, rows, own);
      begin += 4 * own;
    }
    return this.taped(out, width, (grads) => {
      let from = grads.byteOffset;
      for (const { grads: ofPart, width: own } of parts) {
        if (ofPart) kernels.addBlock(ofPart.byteOffset, own, from, width, rows, own);
        from += 4 * own;
      }
    });
  }

  /**
   * relu of the sums of one row of each table, plus `x · w`.
   * @param parts tables of one width, each with an index int32 [rows of the output]
   */
  reluOfSums(
    parts: readonly (readonly [table: Taped, index: Int32Array])[],
    base?: readonly [x: Taped, w: Taped],
  ): Taped {
    const { kernels } = this.parameters;
    const { width } = parts[0]![0];
    const copied = parts.map(([table, index]) => [table, this.index(index)] as const);
    const count = copied[0]![1].length;
    const out = this.buffer(count * width);
    if (base) this.products.product(base[0].values, count, base[0].width, base[1].values, width, out);
    else out.fill(0);
    for (const [{ values }, { byteOffset }] of copied) {
      kernels.addRows(out.byteOffset, values.byteOffset, byteOffset, count, width);
    }
    kernels.reluAll(out.byteOffset, out.length);
    return this.taped(out, width, (grads) => {
      kernels.reluGrad(grads.byteOffset, out.byteOffset, out.length);
      if (base) this.products.weights(base[0].values, count, base[0].width, grads, width, base[1].grads!);
      for (const [{ grads: into }, { byteOffset }] of copied) {
        if (into) kernels.scatterRows(into.byteOffset, grads.byteOffset, byteOffset, count, width);
      }
    });
  }

  /** Dot products of pairs of rows, times `scale`: [left.length, 1]. */
  dots(x: Taped, left: Int32Array, y: Taped, right: Int32Array, scale = 1): Taped {
    const { kernels } = this.parameters;
    const [{ byteOffset: l }, { byteOffset: r }] = [this.index(left), this.index(right)];
    const { width } = x;
    const out = this.buffer(left.length).fill(0);
    kernels.addDots(out.byteOffset, x.values.byteOffset, l, y.values.byteOffset, r, width, left.length, scale);
    return this.taped(out, 1, ({ byteOffset: by }) => {
      const add = (into: Float32Array, rows: number, table: Float32Array, of: number) =>
        kernels.addScaledRows(into.byteOffset, rows, by, scale, table.byteOffset, of, width, left.length);
      if (x.grads) add(x.grads, l, y.values, r);
      if (y.grads) add(y.grads, r, x.values, l);
    });
  }

  /**
   * Each number is left out with this probability and the others grow by what is missing. Without a generator: `x` itself.
   * @param offsets int32 [generators + 1]: rows of generator `i` are `offsets[i] .. offsets[i + 1] - 1`; default one row each
   */
  dropout(x: Taped, rate: number, dropping: Dropping | undefined, offsets?: Int32Array): Taped {
    if (dropping === undefined || rate === 0) return x;
    const kept = this.buffer(x.values.length);
    const [below, scale] = [rate * 2 ** 32, 1 / (1 - rate)];
    const draw = (rng: Rng, begin: number, end: number) => {
      for (let i = begin; i < end; i++) kept[i] = rng.uint32() < below ? 0 : scale;
    };
    const rowOf = (i: number) => (offsets ? offsets[i]! : i) * x.width;
    if (dropping instanceof Rng) draw(dropping, 0, kept.length);
    else dropping.forEach((rng, i) => draw(rng, rowOf(i), rowOf(i + 1)));
    return this.multiply(x, { rows: x.rows, width: x.width, values: kept });
  }

  /** Rows of length 1; a row of zeros stays. */
  unit(x: Taped): Taped {
    const { rows, width, values } = x;
    const out = this.buffer(values.length);
    const norms = Float64Array.from({ length: rows }, (_, row) => {
      let square = 0;
      for (let k = row * width; k < (row + 1) * width; k++) square += values[k]! ** 2;
      return Math.sqrt(square) || 1;
    });
    for (let i = 0; i < out.length; i++) out[i] = values[i]! / norms[Math.floor(i / width)]!;
    return this.taped(out, width, (grads) => {
      if (!x.grads) return;
      for (let row = 0; row < rows; row++) {
        let along = 0;
        for (let k = row * width; k < (row + 1) * width; k++) along += grads[k]! * out[k]!;
        for (let k = row * width; k < (row + 1) * width; k++)
          x.grads[k]! += (grads[k]! - along * out[k]!) / norms[row]!;
      }
    });
  }

  /**
   * Attention of each query over its rows: Σ_j softmax_j(query · x_j) x_j.
   * @param offsets int32 [queries + 1]: rows of query `i` are `offsets[i] .. offsets[i + 1] - 1`; at least one
   * @returns [queries, width]
   */
  attend(query: Taped, x: Taped, offsets: Int32Array): Taped {
    const { kernels } = this.parameters;
    const { width } = x;
    const copied = this.index(offsets);
    const shares = this.buffer(x.rows);
    const out = this.buffer(query.rows * width);
    const of = [query.values, x.values, copied].map(({ byteOffset }) => byteOffset) as [number, number, number];
    kernels.attend(...of, query.rows, width, shares.byteOffset, out.byteOffset);
    return this.taped(out, width, (grads) => {
      kernels.attendGrad(
        ...([grads.byteOffset, ...of, query.rows, width, shares.byteOffset, out.byteOffset] as const),
        ...([query.grads?.byteOffset ?? 0, x.grads?.byteOffset ?? 0] as const),
      );
    });
  }

  /** Concatenated results with the backward pass for an optimizer. */
  outputs(parts: readonly Taped[]): HostOutputs {
    const values = new Float32Array(parts.reduce((sum, part) => sum + part.values.length, 0));
    const each = (visit: (part: Taped, begin: number) => void) => {
      let begin = 0;
      for (const part of parts) {
        visit(part, begin);
        begin += part.values.length;
      }
    };
    each((part, begin) => values.set(part.values, begin));
    const { version } = this.parameters;
    const computation = this.#computation;
    return {
      values,
      back: (grad) => {
        if (version !== this.parameters.version || computation !== this.#computation) {
          const message = 'expected the latest computation, got an earlier one, in backward of a tape';
          throw new WorkbenchError('failure', message);
        }
        each(({ grads, values: own }, begin) => {
          for (let i = 0; grads && i < own.length; i++) grads[i]! += grad[begin + i]!;
        });
        for (let i = this.#backward.length - 1; i >= 0; i--) this.#backward[i]!();
      },
    };
  }

  #add(into: Float32Array | undefined, { byteOffset, length }: Float32Array): void {
    if (into) this.parameters.kernels.addBlock(into.byteOffset, length, byteOffset, length, 1, length);
  }

  #copy({ values }: Taped): Float32Array {
    const out = this.buffer(values.length);
    out.set(values);
    return out;
  }
}
