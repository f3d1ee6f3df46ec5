/** AdamW with a global gradient clip, whose whole state can be saved and restored bit for bit. */
import type * as tfTypes from '@tensorflow/tfjs-core';
import { Diverged, firstNotFinite, type NotFinite } from './diverged.js';
import {
  type EndedOnHost,
  endOf,
  hostValues,
  onHost,
  readsAtOnce,
  readTensor,
  type TensorOutputs,
  type Tf,
} from './ops.js';
import { ParameterSet, type HostTensor, type StoredTensors } from './parameters.js';
import { clipped, type Fresh, HostAdamW, momentOf, namedMoments } from './host/host-adamw.js';
import { HostParameters } from './host/host-parameters.js';
import { kernelsRun } from '../simd/kernels.js';
import type { AdamWOptions, Gather, Optimizer, Outputs, TrainedParameters } from './trainable.js';

/** One parameter after a step, and its moments. */
type NextTensors = Record<'first' | 'second' | 'values', tfTypes.Tensor>;

/** @source Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2 */
export class AdamW {
  readonly #tf: Tf;
  /** Present if the host can compute the step; there are no other moments then. */
  readonly #mirrored: MirroredAdamW | undefined;
  readonly #first: ParameterSet;
  readonly #second: ParameterSet;
  #steps = 0;

  /** @param onHost whether the host computes steps: the same bits, sooner; default where it can */
  constructor(
    readonly parameters: ParameterSet,
    readonly options: AdamWOptions = {},
    onHost = MirroredAdamW.fits(parameters),
  ) {
    this.#tf = parameters.tf;
    this.#mirrored = onHost ? new MirroredAdamW(parameters, options) : undefined;
    this.#first = onHost ? new ParameterSet(parameters.tf) : zerosLike(parameters);
    this.#second = onHost ? new ParameterSet(parameters.tf) : zerosLike(parameters);
  }

  /**
   * One step down the gradient of a sum of losses. Parameters that take part in none have a gradient of zeros: their moments
   * fade, which still moves them, and they decay as the others do.
   * @param losses built from tensors one after the other, so that parts of a batch need the memory of one
   * @param learningRate this step's rate
   * @returns the gradients' global norm before clipping
   * @throws Diverged for a gradient, a moment or a weight that would not be finite; nothing has changed then
   */
  minimize(losses: readonly (() => tfTypes.Scalar)[], learningRate: number): Promise<number> {
    const tf = this.#tf;
    const { variables } = this.parameters;
    const gradients = (loss: () => tfTypes.Scalar) =>
      tf.tidy(() => ofAll(tf, tf.engine().gradients(loss, variables).grads, variables));
    return this.#descend((parts) => {
      for (const loss of losses) parts.push(gradients(loss));
      return Promise.resolve();
    }, learningRate);
  }

  /** One step down the sum of what went back, as `Optimizer` says. */
  step(gather: Gather, learningRate: number): Promise<number> {
    return this.#descend(async (parts) => {
      const recordings: Recording[] = [];
      try {
        await gather(async (outputs) => {
          const recording = recorded(this.#tf, outputs, this.parameters.variables);
          recordings.push(recording);
          const { values, gradients } = await recording.read();
          const back = (grad: Float32Array) => {
            parts.push(gradients(grad));
            recording.dispose();
          };
          return { values, back };
        });
      } finally {
        recordings.forEach((recording) => recording.dispose());
      }
    }, learningRate);
  }

  /** @param gather adds the gradients of each part of the loss */
  async #descend(gather: (parts: tfTypes.Tensor[][]) => Promise<void>, learningRate: number): Promise<number> {
    const tf = this.#tf;
    const held: tfTypes.Tensor[][] = [];
    try {
      await gather(held);
      const ofPart = (k: number) => held.map((part) => part[k]!);
      if (held.length > 1) held.push(tf.tidy(() => held[0]!.map((_, k) => tf.addN(ofPart(k)))));
      const gradients = held.at(-1)!;
      const squares = tf.tidy(() => total(tf, gradients.map(tf.square)));
      held.push([squares]);
      if (this.#mirrored) {
        const square = (await hostValues(tf, squares))[0]!;
        const norm = Math.sqrt(square);
        if (!Number.isFinite(norm)) throw await this.#diverged(gradients, norm);
        this.#mirrored.descend(gradients, square, learningRate);
        return norm;
      }
      // Memory of the host is read whenever it helps, so the clip is exact there. A device waits at every read: it has one.
      const exact = onHost(tf) ? Math.sqrt((await hostValues(tf, squares))[0]!) : undefined;
      if (exact !== undefined && !Number.isFinite(exact)) throw await this.#diverged(gradients, exact);
      const next = tf.tidy(() => this.#next(gradients, exact ?? (tf.sqrt(squares) as tfTypes.Scalar), learningRate));
      held.push(next.flatMap(({ first, second, values }) => [first, second, values]));
      const changed = next.flatMap(({ second, values }) => [second, values]);
      const [square, sum] = await readTensor(tf, () => tf.stack([squares, total(tf, changed)]));
      const norm = Math.sqrt(square!);
      if (!Number.isFinite(norm + sum!)) throw await this.#diverged(gradients, norm, next);
      this.#steps++;
      this.parameters.names.forEach((name, k) => {
        this.#first.get(name).assign(next[k]!.first);
        this.#second.get(name).assign(next[k]!.second);
        this.parameters.get(name).assign(next[k]!.values);
      });
      return norm;
    } finally {
      tf.dispose(held);
    }
  }

  /** Moments and weights after a step. @param norm of the gradients: a tensor where it is on a device still */
  #next(gradients: readonly tfTypes.Tensor[], norm: number | tfTypes.Scalar, learningRate: number): NextTensors[] {
    const tf = this.#tf;
    const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0 } = this.options;
    const steps = this.#steps + 1;
    const stepSize = learningRate / (1 - beta1 ** steps);
    const secondScale = 1 / Math.sqrt(1 - beta2 ** steps);
    const { gain, squareGain } = typeof norm === 'number' ? clipped(norm, this.options) : this.#clipped(norm);
    return this.parameters.names.map((name, k) => {
      const parameter = this.parameters.get(name);
      const gradient = gradients[k]!;
      const first = tf.add(tf.mul(this.#first.get(name), beta1), tf.mul(gradient, gain));
      const second = tf.add(tf.mul(this.#second.get(name), beta2), tf.mul(tf.square(gradient), squareGain));
      const denominator = tf.add(tf.mul(tf.sqrt(second), secondScale), epsilon);
      const decayed = weightDecay === 0 ? parameter : tf.mul(parameter, 1 - learningRate * weightDecay);
      return { first, second, values: tf.sub(decayed, tf.mul(tf.div(first, denominator), stepSize)) };
    });
  }

  /** Variant of `clipped` for a norm on a device. */
  #clipped(norm: tfTypes.Scalar) {
    const tf = this.#tf;
    const { maxGradNorm = Infinity } = this.options;
    const { gain, squareGain } = clipped(1, { ...this.options, maxGradNorm: Infinity });
    if (maxGradNorm === Infinity) return { gain, squareGain };
    const scale = tf.minimum(tf.div(maxGradNorm, norm), 1);
    return { gain: tf.mul(scale, gain), squareGain: tf.mul(tf.square(scale), squareGain) };
  }

  /** @param next what the step would have led to, where it was computed */
  async #diverged(
    gradients: readonly tfTypes.Tensor[],
    norm: number,
    next?: readonly NextTensors[],
  ): Promise<Diverged> {
    const { names } = this.parameters;
    const tensors: [name: string, tensor: tfTypes.Tensor][] = Number.isFinite(norm)
      ? names.flatMap((name, k): [string, tfTypes.Tensor][] => [
          [`second moment of ${name}`, next![k]!.second],
          [`weight ${name}`, next![k]!.values],
        ])
      : names.map((name, k) => [`gradient of ${name}`, gradients[k]!]);
    return diverged(this.#tf, tensors);
  }

  /** Moments and step count, for a checkpoint. @param prefix goes before every name, so that optimizers can share a file */
  async exportState(prefix: string): Promise<{ steps: number; tensors: Record<string, HostTensor> }> {
    if (this.#mirrored) return this.#mirrored.moments.exportState(prefix);
    const [first, second] = await Promise.all([this.#first.export(), this.#second.export()]);
    return { steps: this.#steps, tensors: namedMoments(prefix, { first, second }) };
  }

  /** Restores what `exportState` gave under the same prefix; other names in `tensors` are ignored. */
  importState(prefix: string, steps: number, tensors: StoredTensors): void {
    if (this.#mirrored) return this.#mirrored.moments.importState(prefix, steps, tensors);
    this.#steps = steps;
    this.#first.import(momentOf(prefix, 'first', tensors));
    this.#second.import(momentOf(prefix, 'second', tensors));
  }

  dispose(): void {
    this.#first.dispose();
    this.#second.dispose();
  }
}

/** Weights from which on the copies would not fit the memory of the kernels: seven numbers of four bytes each. */
const mostWeights = 2 ** 27;

/**
 * AdamW's step on the host for tensors of a backend whose memory the host reads at once: one pass of a kernel instead of a dozen operations a
 * parameter, to the same bits.
 */
class MirroredAdamW {
  /** Over copies of the weights, which are current only within a step. */
  readonly moments: HostAdamW;

  /** Returns whether the host can compute steps of these weights. */
  static fits(parameters: ParameterSet): boolean {
    return readsAtOnce(parameters.tf) && kernelsRun() && parameters.size < mostWeights;
  }

  constructor(
    readonly weights: ParameterSet,
    readonly options: AdamWOptions,
  ) {
    const zeros = weights.names.map((name) => {
      const { shape, size } = weights.get(name);
      return [name, { shape: shape.slice(), data: new Float32Array(size) }] as const;
    });
    this.moments = new HostAdamW(new HostParameters(Object.fromEntries(zeros)), options);
  }

  /** One step of the weights. @param square of the gradients' norm, as the backend computed it @throws as `HostAdamW.descend` */
  descend(gradients: readonly tfTypes.Tensor[], square: number, learningRate: number): void {
    const { weights, moments } = this;
    const { tf } = weights;
    const mirror = moments.parameters;
    weights.names.forEach((name, k) => {
      mirror.value(name).set(weights.get(name).dataSync() as Float32Array);
      mirror.grad(name).set(gradients[k]!.dataSync() as Float32Array);
    });
    moments.descend(Math.sqrt(square), this.#fresh(square), learningRate);
    for (const name of weights.names) {
      const variable = weights.get(name);
      const next = tf.tensor(mirror.value(name).slice(), variable.shape, 'float32');
      variable.assign(next);
      next.dispose();
    }
  }

  /** Native TensorFlow clips in float32, number by number. */
  #fresh(square: number): Fresh {
    const { tf } = this.weights;
    const { maxGradNorm = Infinity } = this.options;
    const norm = Math.sqrt(square);
    if (onHost(tf) || maxGradNorm === Infinity) return clipped(norm, this.options);
    const whole = clipped(1, { ...this.options, maxGradNorm: Infinity });
    const scale = Math.min(Math.fround(Math.fround(maxGradNorm) / Math.fround(norm)), 1);
    return {
      gain: Math.fround(scale * Math.fround(whole.gain)),
      squareGain: Math.fround(Math.fround(scale * scale) * Math.fround(whole.squareGain)),
    };
  }
}

/** Sum of squares of all tensors. On a device, where every kernel call costs, they are concatenated first. */
function total(tf: Tf, tensors: tfTypes.Tensor[]): tfTypes.Scalar {
  if (onHost(tf)) return tf.addN(tensors.map((tensor) => tf.sum(tensor))) as tfTypes.Scalar;
  return tf.sum(tf.concat(tensors.map((tensor) => tf.reshape(tensor, [-1]) as tfTypes.Tensor1D)));
}

/** Error of the first tensor that is not finite; if each number is, of the largest, whose square or sum is not. */
async function diverged(tf: Tf, tensors: readonly [name: string, tensor: tfTypes.Tensor][]): Promise<Diverged> {
  let first: NotFinite | undefined;
  let largest = { name: '', index: 0, size: -1 };
  for (const [name, tensor] of tensors) {
    const values = await hostValues(tf, tensor);
    first ??= firstNotFinite(name, values);
    values.forEach((value, index) => {
      if (Math.abs(value) > largest.size) largest = { name, index, size: Math.abs(value) };
    });
  }
  first ??= { tensor: `sum with ${largest.name}`, index: largest.index, value: Infinity };
  return new Diverged(first);
}

function zerosLike(parameters: ParameterSet): ParameterSet {
  const zeros = new ParameterSet(parameters.tf);
  for (const name of parameters.names) {
    const { shape, size } = parameters.get(name);
    zeros.add(name, shape.slice(), new Float32Array(size));
  }
  return zeros;
}

/** The optimizer that fits where the weights lie. */
export function adamWOf(parameters: TrainedParameters, options: AdamWOptions = {}): Optimizer {
  return parameters instanceof HostParameters
    ? new HostAdamW(parameters, options)
    : new AdamW(parameters as ParameterSet, options);
}

/** A variable that a batch does not reach, such as one for a choice that no state of it has, has none: zeros. */
function ofAll(tf: Tf, gradients: (tfTypes.Tensor | null)[], variables: tfTypes.Variable[]): tfTypes.Tensor[] {
  return gradients.map((gradient, i) => gradient ?? tf.zerosLike(variables[i]!));
}

/** A forward pass from which nothing went back yet. */
interface Recording {
  /**
   * Outputs and backward pass, read once. `gradients` is called at most once, with that by every output: one gradient a variable, in their
   * order, the caller's to dispose.
   */
  read(): Promise<{ values: Float32Array; gradients(grad: Float32Array): tfTypes.Tensor[] }>;
  /** Frees what the backward pass needs; may be called again. */
  dispose(): void;
}

/**
 * tfjs goes forward and back in one synchronous call. Its tape is taken away at the end of the forward pass, so that nothing
 * goes back yet, and handed in again once the gradient is known: reading a tensor is asynchronous on some backends.
 * @param forward some variable takes part in it
 */
export function recorded(tf: Tf, forward: () => Outputs, variables: tfTypes.Variable[]): Recording {
  const engine = tf.engine();
  let tape: typeof engine.state.activeTape = [];
  let end: EndedOnHost['end'];
  const run = () => {
    const made = endOf(forward() as TensorOutputs);
    ({ end } = made);
    tape = engine.state.activeTape.splice(0);
    return made.device;
  };
  const outputs = tf.tidy(() => engine.gradients(run, variables, undefined, true).value);
  const again = () => {
    engine.state.activeTape.push(...tape);
    return outputs;
  };
  return {
    read: async () => {
      const { values, back } = end(await hostValues(tf, outputs));
      const gradients = (grad: Float32Array) =>
        tf.tidy(() => {
          const { grads } = engine.gradients(again, variables, tf.tensor(back(grad), outputs.shape));
          return ofAll(tf, grads, variables);
        });
      return { values, gradients };
    },
    dispose: () => {
      // What the engine has disposed of already stays disposed of.
      for (const { saved } of tape) saved?.forEach((tensor) => tensor.dispose());
      outputs.dispose();
    },
  };
}
