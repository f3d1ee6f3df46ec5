/** Numbers on a backend of tfjs, and what the executor's operations have in common. */
import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import type * as tfTypes from '@tensorflow/tfjs-core';
import type { Product, Run, Scope } from '../executor.js';

/** The tfjs module, as a value that is passed around. */
export type Tf = typeof tfTypes;

type Tensor = tfTypes.Tensor;
type Tensor1D = tfTypes.Tensor1D;
type Tensor2D = tfTypes.Tensor2D;

/** Numbers, and the tensor of any shape that holds them; zeros where there is none. */
export class Cell {
  tensor: Tensor | undefined;
  /** Kept by an operation for its gradient. */
  kept: Tensor | undefined;

  /** @param parts which together are this one, of runs */
  constructor(
    readonly length: number,
    readonly parts: readonly Cell[] = [],
  ) {}

  replace(tensor?: Tensor): void {
    this.tensor?.dispose();
    this.tensor = tensor;
  }

  dispose(): void {
    this.replace();
    this.kept?.dispose();
    this.kept = undefined;
    for (const part of this.parts) part.dispose();
  }
}

/** Sums over more numbers are sums of sums, which loses less. */
const summedAtOnce = 512;

/** Tensors never change, so what is written to gets another one. */
export class TfjsMemory {
  readonly rowsAreIndependent: boolean;
  readonly #held = new WeakMap<Float32Array, Cell>();

  /** @param backend of tfjs, which was started */
  constructor(
    readonly tf: Tf,
    readonly name: string,
    readonly backend: string,
  ) {
    this.rowsAreIndependent = backend === 'wasm';
  }

  scope(): Scope<Cell, Tensor1D> {
    const given: { dispose(): void }[] = [];
    const give = <T extends { dispose(): void }>(one: T): T => {
      given.push(one);
      return one;
    };
    const take = (length: number) => give(new Cell(length));
    return {
      begin: () => {
        for (const one of given) one.dispose();
        given.length = 0;
      },
      take,
      zeros: take,
      copy: (values) => {
        const cell = take(values.length);
        this.write(cell, values);
        return cell;
      },
      rows: (values) => {
        if (!(values instanceof Int32Array)) return values;
        this.begin();
        return give(this.int32(values.slice()));
      },
    };
  }

  hold(values: Float32Array): Cell {
    let cell = this.#held.get(values);
    if (!cell) {
      cell = new Cell(values.length);
      this.write(cell, values);
      this.#held.set(values, cell);
    }
    return cell;
  }

  run(lengths: readonly number[]): Run<Cell> {
    const parts = lengths.map((length) => new Cell(length));
    return {
      whole: new Cell(
        lengths.reduce((sum, length) => sum + length, 0),
        parts,
      ),
      parts,
    };
  }

  free({ whole }: Run<Cell>): void {
    whole.dispose();
  }

  write(into: Cell, values: Float32Array): void {
    // A copy: a backend may read it later.
    this.put(into, () => this.tf.tensor1d(values.slice()));
  }

  async read(values: Cell): Promise<Float32Array> {
    if (!values.tensor) return new Float32Array(values.length);
    // A copy, for the numbers may be replaced while a device computes them.
    const held = this.tf.keep(this.copy(values));
    try {
      // A copy: a backend may hand out what it will read.
      return new Float32Array(await held.data());
    } finally {
      held.dispose();
    }
  }

  fill(into: Cell, value: number): void {
    for (const cell of cellsOf(into)) {
      if (value === 0) cell.replace();
      else this.put(cell, () => this.tf.fill([cell.length], value));
    }
  }

  assign(into: Cell, x: Cell): void {
    const from = cellsOf(x);
    cellsOf(into).forEach((cell, i) => {
      const source = from[i]!;
      if (source.tensor) this.put(cell, () => this.copy(source));
      else cell.replace();
    });
  }

  sumSquares(x: Cell): Promise<number> {
    return this.#sums(x, (values) => this.tf.square(values));
  }

  sum(x: Cell): Promise<number> {
    return this.#sums(x, (values) => values);
  }

  /** Makes this backend the one that computes, where others of the process have theirs. */
  protected begin(): void {
    if (this.tf.getBackend() !== this.backend) void this.tf.setBackend(this.backend);
  }

  /** Gives numbers the tensor that `make` returns, which no others have. */
  protected put(cell: Cell, make: () => Tensor): void {
    if (cell.length === 0) return;
    this.begin();
    cell.replace(this.tf.tidy(make));
  }

  /** Adds it to what they are. */
  protected add(cell: Cell, make: () => Tensor): void {
    this.put(cell, () => {
      const added = make();
      return cell.tensor ? this.tf.add(this.of(cell, added.shape), added) : added;
    });
  }

  /** Sums of numbers of a run or others, ended here in float64. */
  async #sums(x: Cell, terms: (values: Tensor) => Tensor): Promise<number> {
    const { tf } = this;
    const cells = cellsOf(x).filter(({ tensor }) => tensor);
    if (cells.length === 0) return 0;
    this.begin();
    const sums = tf.tidy(() =>
      tf.concat(
        cells.map((cell) => {
          const rest = -cell.length & (summedAtOnce - 1);
          const filled = tf.pad(terms(this.of(cell, [cell.length])), [[0, rest]]);
          return tf.sum(tf.reshape(filled, [-1, summedAtOnce]), 1);
        }),
      ),
    );
    try {
      return ((await sums.data()) as Float32Array).reduce((sum, value) => sum + value, 0);
    } finally {
      sums.dispose();
    }
  }

  /** a · b, either transposed. */
  protected product(kind: Product, a: Tensor2D, b: Tensor2D): Tensor2D {
    const { tf } = this;
    const [turnA, turnB] = [kind === 'aTb', kind === 'abT'];
    if (this.backend !== 'wasm') return tf.matMul(a, b, turnA, turnB);
    // Its fast kernel takes factors as they are alone.
    return tf.matMul(turnA ? tf.transpose(a) : a, turnB ? tf.transpose(b) : b);
  }

  protected int32(values: Int32Array): Tensor1D {
    return this.tf.tensor1d(values, 'int32');
  }

  protected rowsOf(table: Cell, index: Tensor1D, width: number): Tensor2D {
    return this.gather(this.of<Tensor2D>(table, [table.length / width, width]), index);
  }

  protected gather(table: Tensor2D, index: Tensor1D): Tensor2D {
    const { tf } = this;
    if (this.backend !== 'wasm') return tf.gather(table, index);
    // Its own kernel computes the place of each number and takes ten times as long.
    const wasm = tf.backend() as BackendWasm;
    const [values, rows] = [table, index].map((tensor) => wasm.typedArrayFromHeap(tensor));
    const [count, width] = [index.size, table.shape[1]];
    const out = new Float32Array(count * width);
    for (let i = 0; i < count; i++) {
      const from = rows![i]! * width;
      for (let j = 0; j < width; j++) out[i * width + j] = values![from + j]!;
    }
    return tf.tensor2d(out, [count, width]);
  }

  /** Sums of rows of `x` by the row of a table that each belongs to. */
  protected scatter(x: Tensor, index: Tensor1D, { length }: Cell, width: number): Tensor {
    return this.tf.scatterND(this.tf.reshape(index, [-1, 1]), x, [length / width, width]);
  }

  protected rows(x: Cell, width: number, begin: number, count: number): Tensor2D {
    return this.tf.slice(this.of<Tensor2D>(x, [x.length / width, width]), [begin, 0], [count, width]);
  }

  /** The numbers in a shape, default any; not to be given to others. */
  protected of<T extends Tensor = Tensor>({ tensor, length }: Cell, shape: T['shape'] = tensor?.shape ?? [length]): T {
    if (!tensor) return this.tf.zeros(shape) as T;
    const fits = tensor.shape.length === shape.length && tensor.shape.every((size, i) => size === shape[i]);
    return (fits ? tensor : this.tf.reshape(tensor, shape)) as T;
  }

  /** Another tensor of the same numbers. */
  protected copy<T extends Tensor = Tensor>(cell: Cell, shape?: T['shape']): T {
    const own = this.of<T>(cell, shape);
    return this.tf.reshape(own, own.shape) as T;
  }
}

const cellsOf = (cell: Cell) => (cell.parts.length > 0 ? cell.parts : [cell]);
