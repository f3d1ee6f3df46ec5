/** Mean and variance of everything seen so far, in float64. */
import { z } from 'zod';

/** State stored in checkpoints; numbers are restored bit for bit. */
export const momentsState = z.object({
  count: z.number().positive(),
  mean: z.array(z.number()),
  variance: z.array(z.number().nonnegative()),
});
/** One state of `RunningMoments`. */
export type MomentsState = z.output<typeof momentsState>;

/**
 * Moments of vectors, batch by batch. It begins with mean 0 and variance 1 at a weight of 10⁻⁴ of a vector, as
 * Stable-Baselines3 does, so that the first batch is divided by something.
 * @source Chan, Golub and LeVeque 1983, The American Statistician 37(3), equation 2.1, for two parts
 */
export class RunningMoments {
  readonly mean: Float64Array;
  /** Population variance. */
  readonly variance: Float64Array;
  #count = 1e-4;

  /** @param width numbers a vector */
  constructor(readonly width: number) {
    this.mean = new Float64Array(width);
    this.variance = new Float64Array(width).fill(1);
  }

  /** Vectors seen, the weight of the start included. */
  get count(): number {
    return this.#count;
  }

  /** @param rows vectors of the batch, which count as one addition; none changes nothing */
  add(rows: readonly ArrayLike<number>[]): void {
    const more = rows.length;
    if (more === 0) return;
    const count = this.#count + more;
    for (let k = 0; k < this.width; k++) {
      let mean = 0;
      for (const row of rows) mean += row[k]!;
      mean /= more;
      let squares = 0;
      for (const row of rows) squares += (row[k]! - mean) ** 2;
      const gap = mean - this.mean[k]!;
      squares += this.variance[k]! * this.#count + (gap * gap * this.#count * more) / count;
      this.mean[k]! += (gap * more) / count;
      this.variance[k] = squares / count;
    }
    this.#count = count;
  }

  export(): MomentsState {
    return { count: this.#count, mean: [...this.mean], variance: [...this.variance] };
  }

  /** @throws RangeError for moments of another width */
  import(state: MomentsState): void {
    const { count, mean, variance } = state;
    if (mean.length !== this.width || variance.length !== this.width) {
      throw new RangeError(`expected moments of ${this.width} numbers, got ${mean.length} and ${variance.length}`);
    }
    this.#count = count;
    this.mean.set(mean);
    this.variance.set(variance);
  }
}
