/** Trained rows of the entities of a graph. Updates are sparse, by Adagrad. */
import { optimizerPrefix } from '../../../checkpoints/checkpoint.js';
import type { Tensor } from '../../../checkpoints/safetensors.js';
import type { Rng } from '../../../src/run/seeds.js';
import { Diverged } from '../../../src/nn/diverged.js';
import type { HostTaped, SimdTape } from '../../../src/nn/simd/tape.js';
import { normalValues, storedFloats, type StoredTensors } from '../../../src/nn/parameters.js';
import { moveRow } from '../../embeddings/bilinear/gradients.js';

const name = 'entities';
const squaresName = `${optimizerPrefix}squares/${name}`;

/** float32 [entities, dim], with sums of squared gradients and current gradients: 12 bytes a number. */
export class EntityTable {
  readonly values: Float32Array;
  readonly #squares: Float32Array;
  readonly #gradients: Float32Array;
  readonly #touched = new Set<number>();

  constructor(
    readonly size: number,
    readonly dim: number,
    deviation: number,
    rng: Rng,
  ) {
    this.values = normalValues(rng, deviation, size * dim);
    this.#squares = new Float32Array(size * dim);
    this.#gradients = new Float32Array(size * dim);
  }

  /** Rows of some entities on a tape: [entities, dim]. On its backward pass they are added up until `move` or `clear`. */
  rows(tape: SimdTape, entities: Int32Array): HostTaped {
    const { dim } = this;
    const out = tape.buffer(entities.length * dim);
    entities.forEach((entity, i) => out.set(this.values.subarray(entity * dim, (entity + 1) * dim), i * dim));
    return tape.taped(out, dim, (grads) => {
      entities.forEach((entity, i) => {
        this.#touched.add(entity);
        for (let k = 0; k < dim; k++) this.#gradients[entity * dim + k]! += grads[i * dim + k]!;
      });
    });
  }

  /** @throws Diverged for a gradient whose square is not finite */
  check(): void {
    for (const entity of this.#touched) {
      for (let index = entity * this.dim; index < (entity + 1) * this.dim; index++) {
        const value = this.#gradients[index]!;
        if (Number.isFinite(Math.fround(value * value))) continue;
        throw new Diverged({ tensor: `gradient of ${name}`, index, value });
      }
    }
  }

  /** A step of all that has a gradient. */
  move(learningRate: number): void {
    const arrays = { values: this.values, squares: this.#squares, gradients: this.#gradients };
    for (const entity of this.#touched) moveRow(arrays, entity, this.dim, learningRate, 1);
    this.#touched.clear();
  }

  clear(): void {
    for (const entity of this.#touched) this.#gradients.fill(0, entity * this.dim, (entity + 1) * this.dim);
    this.#touched.clear();
  }

  tensors(): Record<string, Tensor> {
    const shape = [this.size, this.dim];
    return { [name]: { shape, data: this.values.slice() }, [squaresName]: { shape, data: this.#squares.slice() } };
  }

  /** @param training whether sums of squares are wanted, too @throws WorkbenchError `data` where a tensor is missing or of another shape */
  import(tensors: StoredTensors, training: boolean): void {
    const shape = [this.size, this.dim];
    this.values.set(storedFloats(tensors, name, shape));
    if (training) this.#squares.set(storedFloats(tensors, squaresName, shape));
  }
}
