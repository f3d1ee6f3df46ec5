/** A computation that is recorded operation by operation, so that gradients can go back through it. */
import { WorkbenchError } from '../run/errors.js';
import type { Executor, Numbers, Rows, Scope } from './executor.js';
import type { Parameters } from './parameters.js';

/** A matrix that was computed, float32 [rows, width], and the gradient by it. Valid until the tape's next `begin`. */
export interface Taped<N extends Numbers = Numbers> {
  readonly rows: number;
  readonly width: number;
  readonly values: N;
  /** Added to on the backward pass, zeros from when it is first read; absent of what nothing is learned behind. */
  readonly grads?: N | undefined;
}

/** Result that something is learned behind. */
class Learned<N extends Numbers> implements Taped<N> {
  /** Its gradient, once it was read. */
  added: N | undefined = undefined;

  constructor(
    readonly rows: number,
    readonly width: number,
    readonly values: N,
    readonly scope: Scope<N, Rows>,
  ) {}

  get grads(): N {
    return (this.added ??= this.scope.zeros(this.rows * this.width));
  }
}

/** Outputs of a network with the backward pass. */
export interface Outputs {
  /** float32: a copy, before the tape's next `begin`. */
  read(): Promise<Float32Array>;
  /** Adds to the gradients of all parameters. Called at most once, before the network's next computation. */
  backward(grad: Float32Array): void;
  /** Matrices that they are of, for gradients that are computed where these are; absent of outputs that come from elsewhere. */
  readonly taped?: {
    parts: readonly Taped[];
    /** The same, once the gradients of the parts are added to. */
    backward(): void;
  };
}

/** Records one computation at a time over the parameters of one network. Where rows are independent, a row's numbers do not depend on the others. */
export class Recording<N extends Numbers = Numbers, R extends Rows = Rows> {
  readonly executor: Executor<N, R>;
  readonly scope: Scope<N, R>;
  readonly #backward: (() => void)[] = [];
  /** Parameters that were asked for. */
  readonly #known = new Map<string, Taped<N>>();
  #prefix = '';
  #computation = 0;

  /** @param records whether gradients are computed; without, matrices have none */
  constructor(
    readonly parameters: Parameters<N, R>,
    readonly records = true,
  ) {
    this.executor = parameters.executor;
    this.scope = this.executor.scope();
  }

  /** Starts another computation; its memory is used again. */
  begin(): void {
    this.#backward.length = 0;
    this.scope.begin();
    this.#computation++;
  }

  /** A trained matrix [any, width], or a bias as one row. @param width default: the last of its shape */
  parameter(name: string, width?: number): Taped<N> {
    const whole = this.#prefix + name;
    const known = this.#known.get(whole);
    if (known && (width === undefined || width === known.width)) return known;
    const { parameters } = this;
    const wide = width ?? parameters.shapeOf(whole).at(-1)!;
    const rows = parameters.sizeOf(whole) / wide;
    const made = { rows, width: wide, values: parameters.value(whole), grads: parameters.grad(whole) };
    this.#known.set(whole, made);
    return made;
  }

  has(name: string): boolean {
    return this.parameters.names.includes(this.#prefix + name);
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
  constant(values: Float32Array, width: number): Taped<N> {
    return { rows: width === 0 ? 0 : values.length / width, width, values: this.scope.copy(values) };
  }

  zeros(rows: number, width: number): Taped<N> {
    return { rows, width, values: this.scope.zeros(rows * width) };
  }

  /** The same numbers without a gradient. */
  fixed({ rows, width, values }: Taped<N>): Taped<N> {
    return { rows, width, values };
  }

  /**
   * Result of an operation.
   * @param values taken from `scope`
   * @param of what it was computed of: without a gradient where none of them has one
   * @param backward adds to their gradients
   */
  result(
    values: N,
    [rows, width]: readonly [rows: number, width: number],
    of: readonly Taped<N>[],
    backward: (grads: N) => void,
  ): Taped<N> {
    const learns = (one: Taped<N>) => one instanceof Learned || one.grads !== undefined;
    if (!this.records || !of.some(learns)) return { rows, width, values };
    const made = new Learned(rows, width, values, this.scope);
    // Without a contribution there is nothing to pass back.
    this.#backward.push(() => made.added && backward(made.added));
    return made;
  }

  /** Concatenated results with the backward pass for an optimizer. */
  outputs(parts: readonly Taped<N>[]): Outputs {
    const sizes = parts.map(({ rows, width }) => rows * width);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const { version } = this.parameters;
    const computation = this.#computation;
    const backward = () => {
      if (version !== this.parameters.version || computation !== this.#computation) {
        const message = 'expected the latest computation, got an earlier one, in backward of a tape';
        throw new WorkbenchError('failure', message);
      }
      for (let i = this.#backward.length - 1; i >= 0; i--) this.#backward[i]!();
    };
    return {
      taped: { parts, backward },
      read: async () => {
        const read = await Promise.all(parts.map(({ values }) => this.executor.read(values)));
        const all = new Float32Array(total);
        read.reduce((at, values, i) => (all.set(values.subarray(0, sizes[i]), at), at + sizes[i]!), 0);
        return all;
      },
      backward: (grad) => {
        let begin = 0;
        parts.forEach((part, i) => {
          const own = this.scope.copy(grad.subarray(begin, (begin += sizes[i]!)));
          this.addTo(part, own);
        });
        backward();
      },
    };
  }

  /** gradient += scale · x, where there is one. */
  protected addTo({ grads, rows, width }: Taped<N>, x: N, scale = 1): void {
    const length = rows * width;
    if (grads) this.executor.addScaled(grads, x, length, scale);
  }
}
