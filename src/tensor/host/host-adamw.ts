/** AdamW for networks on the host: the same rule and the same promises as `AdamW`, in one pass of a kernel. */
import { Diverged, firstNotFinite } from '../diverged.js';
import type { HostTensor, StoredTensors } from '../parameters.js';
import type { AdamWOptions, Gather } from '../trainable.js';
import type { HostOutputs, HostParameters } from './host-parameters.js';

/** Terms of the moments: the gradient and its square times these, both cut to the largest norm. */
export interface Fresh {
  gain: number;
  squareGain: number;
}

/** @param norm of the gradients */
export function clipped(norm: number, { beta1 = 0.9, beta2 = 0.999, maxGradNorm = Infinity }: AdamWOptions): Fresh {
  const scale = norm > maxGradNorm ? maxGradNorm / norm : 1;
  return { gain: scale * (1 - beta1), squareGain: scale * scale * (1 - beta2) };
}

/** Moments as a checkpoint names them. */
export function namedMoments(prefix: string, moments: Record<'first' | 'second', Record<string, HostTensor>>) {
  return Object.fromEntries(
    Object.entries(moments).flatMap(([moment, tensors]) =>
      Object.entries(tensors).map(([name, tensor]) => [`${prefix}${moment}/${name}`, tensor]),
    ),
  );
}

/** One of them by the names of its parameters. */
export function momentOf(prefix: string, moment: 'first' | 'second', tensors: StoredTensors): StoredTensors {
  const start = `${prefix}${moment}/`;
  const own = Object.keys(tensors).filter((name) => name.startsWith(start));
  return Object.fromEntries(own.map((name) => [name.slice(start.length), tensors[name]!]));
}

/** @source Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2 */
export class HostAdamW {
  readonly #first: Float32Array;
  readonly #second: Float32Array;
  /** Values and moments before a step, for one that diverges. */
  readonly #before: [Float32Array, Float32Array, Float32Array];
  #steps = 0;

  constructor(
    readonly parameters: HostParameters,
    readonly options: AdamWOptions = {},
  ) {
    const { arena, values } = parameters;
    const same = () => arena.float32(values.length);
    this.#first = same();
    this.#second = same();
    this.#before = [same(), same(), same()];
  }

  /** One step down the sum of what went back, as `Optimizer` says. */
  async step(gather: Gather, learningRate: number): Promise<number> {
    const { grads, kernels } = this.parameters;
    grads.fill(0);
    await gather((outputs) => Promise.resolve(outputs() as HostOutputs));
    const norm = Math.sqrt(kernels.sumSquares(grads.byteOffset, grads.length));
    if (!Number.isFinite(norm)) throw this.#diverged([['gradient of', grads]]);
    this.descend(norm, clipped(norm, this.options), learningRate);
    return norm;
  }

  /** One step down the gradients that stand in the parameters. @throws Diverged, with nothing changed, for a moment or weight that is not finite */
  descend(norm: number, { gain, squareGain }: Fresh, learningRate: number): void {
    const { values, grads, kernels } = this.parameters;
    const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0 } = this.options;
    const steps = this.#steps + 1;
    const all = [values, this.#first, this.#second];
    all.forEach((array, i) => this.#before[i]!.set(array));
    kernels.adamStep(
      values.byteOffset,
      this.#first.byteOffset,
      this.#second.byteOffset,
      grads.byteOffset,
      grads.length,
      beta1,
      gain,
      beta2,
      squareGain,
      learningRate / (1 - beta1 ** steps),
      1 / Math.sqrt(1 - beta2 ** steps),
      epsilon,
      1 - learningRate * weightDecay,
    );
    if (![values, this.#second].every((array) => Number.isFinite(kernels.sumAll(array.byteOffset, array.length)))) {
      const error = this.#diverged([
        ['second moment of', this.#second],
        ['weight', values],
      ]);
      all.forEach((array, i) => array.set(this.#before[i]!));
      throw error;
    }
    this.#steps = steps;
    this.parameters.version++;
  }

  /** Moments and step count, for a checkpoint. @param prefix goes before every name, so that optimizers can share a file */
  exportState(prefix: string): Promise<{ steps: number; tensors: Record<string, HostTensor> }> {
    const [first, second] = [this.#first, this.#second].map((array) => this.parameters.copies(array));
    return Promise.resolve({ steps: this.#steps, tensors: namedMoments(prefix, { first: first!, second: second! }) });
  }

  /** Restores what `exportState` gave under the same prefix; other names in `tensors` are ignored. */
  importState(prefix: string, steps: number, tensors: StoredTensors): void {
    this.#steps = steps;
    this.parameters.import(momentOf(prefix, 'first', tensors), this.#first);
    this.parameters.import(momentOf(prefix, 'second', tensors), this.#second);
  }

  /** Error of the first number that is not finite among arrays of the parameters' layout; if each is, of the norm. */
  #diverged(arrays: readonly [what: string, array: Float32Array][]): Diverged {
    for (const [what, array] of arrays) {
      for (const [name, { data }] of Object.entries(this.parameters.copies(array))) {
        const first = firstNotFinite(`${what} ${name}`, data);
        if (first) return new Diverged(first);
      }
    }
    return new Diverged({ tensor: 'sum of squares', index: 0, value: Infinity });
  }

  dispose(): void {
    // Its memory goes when nothing refers to it any more.
  }
}
