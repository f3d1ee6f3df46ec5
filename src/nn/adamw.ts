/** AdamW with a global gradient clip, whose whole state can be saved and restored bit for bit. */
import { Diverged, firstNotFinite } from './diverged.js';
import type { AdamStep, Numbers, Run } from './executor.js';
import type { HostTensor, Parameters, StoredTensors } from './parameters.js';

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
export class AdamW<N extends Numbers = Numbers> {
  readonly #first: Run<N>;
  readonly #second: Run<N>;
  /** Values and moments before a step, for one that diverges. */
  readonly #before: readonly Run<N>[];
  #steps = 0;

  constructor(
    readonly parameters: Parameters<N>,
    readonly options: AdamWOptions = {},
  ) {
    this.#first = parameters.zeros();
    this.#second = parameters.zeros();
    this.#before = Array.from({ length: 3 }, () => parameters.zeros());
  }

  /** Sets all gradients to zero: before the backward passes of a step, which add to them. */
  zeroGrad(): void {
    const { gradients, executor } = this.parameters;
    executor.fill(gradients.whole, 0);
  }

  /**
   * One step down the gradients.
   * @returns their global norm before clipping
   * @throws Diverged for numbers that are not finite; nothing has changed then
   */
  async step(learningRate: number): Promise<number> {
    const { gradients: grads, executor } = this.parameters;
    const norm = Math.sqrt(await executor.sumSquares(grads.whole));
    if (!Number.isFinite(norm)) throw await this.#diverged([['gradient of', grads]]);
    await this.#descend(this.#stepOf(norm, learningRate));
    return norm;
  }

  /**
   * Queues a step on an executor that computes apart from the host; its gradients begin and end as zeros.
   * @param norm [1]: receives the gradient's global norm before clipping
   * @param stopped [1]: set to 1 by a norm that is not finite, which leaves this step and all later ones out; see `takeBack`
   */
  queueStep(learningRate: number, norm: N, stopped: N): void {
    const { executor, weights, gradients } = this.parameters;
    const step = this.#stepOf(0, learningRate);
    const { maxGradNorm = Infinity } = this.options;
    executor.queue!.clippedAdamStep([weights, this.#first, this.#second, gradients], step, maxGradNorm, norm, stopped);
    this.#steps++;
    this.parameters.version++;
  }

  /** Corrects the count of steps for the latest of those that were queued. @param count of them that were left out */
  takeBack(count: number): void {
    this.#steps -= count;
  }

  #stepOf(norm: number, learningRate: number): AdamStep {
    const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0, maxGradNorm = Infinity } = this.options;
    const scale = norm > maxGradNorm ? maxGradNorm / norm : 1;
    const steps = this.#steps + 1;
    return {
      beta1,
      beta2,
      gain: scale * (1 - beta1),
      squareGain: scale * scale * (1 - beta2),
      rate: learningRate / (1 - beta1 ** steps),
      secondScale: 1 / Math.sqrt(1 - beta2 ** steps),
      epsilon,
      keep: 1 - learningRate * weightDecay,
    };
  }

  async #descend(step: AdamStep): Promise<void> {
    const { weights: values, gradients: grads, executor } = this.parameters;
    const all = [values, this.#first, this.#second];
    all.forEach((run, i) => executor.assign(this.#before[i]!.whole, run.whole));
    executor.adamStep(values, this.#first, this.#second, grads, step);
    const sums = await Promise.all([values, this.#second].map((run) => executor.sum(run.whole)));
    if (!sums.every(Number.isFinite)) {
      const error = await this.#diverged([
        ['second moment of', this.#second],
        ['weight', values],
      ]);
      all.forEach((run, i) => executor.assign(run.whole, this.#before[i]!.whole));
      throw error;
    }
    this.#steps++;
    this.parameters.version++;
  }

  /** Moments and step count, for a checkpoint. @param prefix goes before every name, so that optimizers can share a file */
  async exportState(prefix: string): Promise<{ steps: number; tensors: Record<string, HostTensor> }> {
    const tensors: Record<string, HostTensor> = {};
    for (const [moment, run] of this.#moments()) {
      for (const [name, tensor] of Object.entries(await this.parameters.export(run))) {
        tensors[`${prefix}${moment}/${name}`] = tensor;
      }
    }
    return { steps: this.#steps, tensors };
  }

  /** Restores what `exportState` gave under the same prefix; other names in `tensors` are ignored. */
  importState(prefix: string, steps: number, tensors: StoredTensors): void {
    this.#steps = steps;
    for (const [moment, run] of this.#moments()) {
      const start = `${prefix}${moment}/`;
      const own = Object.entries(tensors).filter(([name]) => name.startsWith(start));
      this.parameters.import(Object.fromEntries(own.map(([name, tensor]) => [name.slice(start.length), tensor])), run);
    }
  }

  dispose(): void {
    const { executor } = this.parameters;
    for (const run of [this.#first, this.#second, ...this.#before]) executor.free(run);
  }

  #moments() {
    return [
      ['first', this.#first],
      ['second', this.#second],
    ] as const;
  }

  /** Error of the first number that is not finite among runs of the parameters' layout; if each is, of the norm. */
  async #diverged(runs: readonly [what: string, run: Run<N>][]): Promise<Diverged> {
    for (const [what, run] of runs) {
      for (const [name, { data }] of Object.entries(await this.parameters.export(run))) {
        const first = firstNotFinite(`${what} ${name}`, data);
        if (first) return new Diverged(first);
      }
    }
    return new Diverged({ tensor: 'sum of squares', index: 0, value: Infinity });
  }
}
