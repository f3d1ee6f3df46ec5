/** AdamW with a global gradient clip, whose whole state can be saved and restored bit for bit. */
import type * as tfTypes from '@tensorflow/tfjs';
import type { Tf } from './backend.js';
import { Diverged, firstNotFinite, type NotFinite } from './diverged.js';
import { ParameterSet, type HostTensor, type StoredTensors } from './parameters.js';

/** Decays, clip and what keeps divisions finite; each has a default. */
export interface AdamWOptions {
  /** Decay of the first moment, default 0.9. */
  beta1?: number;
  /** Decay of the second moment, default 0.999. */
  beta2?: number;
  /** Added to the root of the second moment, default 1e-8. */
  epsilon?: number;
  /** Decoupled weight decay per unit of learning rate, default 0. */
  weightDecay?: number;
  /** Largest global L2 norm of a step's gradients; larger ones are scaled down. Default: no limit. */
  maxGradNorm?: number;
}

/** @source Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2 */
export class AdamW {
  readonly #tf: Tf;
  readonly #first: ParameterSet;
  readonly #second: ParameterSet;
  #steps = 0;

  constructor(
    readonly parameters: ParameterSet,
    readonly options: AdamWOptions = {},
  ) {
    this.#tf = parameters.tf;
    this.#first = zerosLike(parameters);
    this.#second = zerosLike(parameters);
  }

  /**
   * One step down the gradient of a sum of losses.
   * @param losses each builds a scalar in which every parameter of the set takes part, and is called once; one after the
   *   other, so that parts of a batch need the memory of one
   * @param learningRate this step's rate
   * @returns the gradients' global norm before clipping
   * @throws Diverged for a gradient, a moment or a weight that would not be finite; nothing has changed then
   */
  minimize(losses: readonly (() => tfTypes.Scalar)[], learningRate: number): number {
    const tf = this.#tf;
    const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0, maxGradNorm = Infinity } = this.options;
    return tf.tidy(() => {
      const { variables } = this.parameters;
      const gradients = losses.map((loss) => tf.variableGrads(loss, variables).grads);
      const named = this.parameters.names.map((name) => {
        const parts = gradients.map((grads) => grads[this.parameters.get(name).name]!);
        return { name, gradient: parts.length === 1 ? parts[0]! : tf.addN(parts) };
      });
      const squares = named.map(({ gradient }) => tf.sum(tf.square(gradient)));
      const norm = Math.sqrt(tf.addN(squares).dataSync()[0]!);
      if (!Number.isFinite(norm)) {
        throw diverged(
          named.map(({ name, gradient }) => [`gradient of ${name}`, gradient]),
          norm,
        );
      }
      const scale = norm > maxGradNorm ? maxGradNorm / norm : 1;
      const steps = this.#steps + 1;
      const stepSize = learningRate / (1 - beta1 ** steps);
      const secondScale = 1 / Math.sqrt(1 - beta2 ** steps);
      const next = named.map(({ name, gradient }) => {
        const parameter = this.parameters.get(name);
        const first = tf.add(tf.mul(this.#first.get(name), beta1), tf.mul(gradient, scale * (1 - beta1)));
        const square = tf.mul(tf.square(gradient), scale * scale * (1 - beta2));
        const second = tf.add(tf.mul(this.#second.get(name), beta2), square);
        const denominator = tf.add(tf.mul(tf.sqrt(second), secondScale), epsilon);
        const decayed = weightDecay === 0 ? parameter : tf.mul(parameter, 1 - learningRate * weightDecay);
        return { name, first, second, values: tf.sub(decayed, tf.mul(tf.div(first, denominator), stepSize)) };
      });
      const sum = tf.addN(next.flatMap(({ second, values }) => [tf.sum(second), tf.sum(values)])).dataSync()[0]!;
      if (!Number.isFinite(sum)) {
        throw diverged(
          next.flatMap(({ name, second, values }) => [
            [`second moment of ${name}`, second],
            [`weight ${name}`, values],
          ]),
          norm,
        );
      }
      this.#steps = steps;
      for (const { name, first, second, values } of next) {
        this.#first.get(name).assign(first);
        this.#second.get(name).assign(second);
        this.parameters.get(name).assign(values);
      }
      return norm;
    });
  }

  /**
   * Moments and step count, for a checkpoint.
   * @param prefix goes before every name, so that optimizers can share a file
   */
  exportState(prefix: string): { steps: number; tensors: Record<string, HostTensor> } {
    const named = (moment: string, set: ParameterSet) =>
      Object.entries(set.export()).map(([name, tensor]) => [`${prefix}${moment}/${name}`, tensor] as const);
    return {
      steps: this.#steps,
      tensors: Object.fromEntries([...named('first', this.#first), ...named('second', this.#second)]),
    };
  }

  /** Restores what `exportState` gave under the same prefix; other names in `tensors` are ignored. */
  importState(prefix: string, steps: number, tensors: StoredTensors): void {
    this.#steps = steps;
    const named = (moment: string, set: ParameterSet) =>
      Object.fromEntries(
        set.names.flatMap((name) =>
          tensors[`${prefix}${moment}/${name}`] ? [[name, tensors[`${prefix}${moment}/${name}`]!]] : [],
        ),
      );
    this.#first.import(named('first', this.#first));
    this.#second.import(named('second', this.#second));
  }

  dispose(): void {
    this.#first.dispose();
    this.#second.dispose();
  }
}

/** What is not finite among the tensors; where each number is, the largest, whose square or sum is not. */
function diverged(tensors: [name: string, tensor: tfTypes.Tensor][], gradNorm: number): Diverged {
  let first: NotFinite | undefined;
  let largest = { name: '', index: 0, size: -1 };
  for (const [name, tensor] of tensors) {
    const values = tensor.dataSync();
    first ??= firstNotFinite(name, values);
    values.forEach((value, index) => {
      if (Math.abs(value) > largest.size) largest = { name, index, size: Math.abs(value) };
    });
  }
  first ??= { tensor: `sum with ${largest.name}`, index: largest.index, value: Infinity };
  return new Diverged({ first, gradNorm });
}

function zerosLike(parameters: ParameterSet): ParameterSet {
  const zeros = new ParameterSet(parameters.tf);
  for (const name of parameters.names) {
    const { shape, size } = parameters.get(name);
    zeros.add(name, shape.slice(), new Float32Array(size));
  }
  return zeros;
}
