/** Layers on the host, by SIMD kernels: for a few states a tensor backend spends longer on its calls than on the numbers. */
import { Arena } from '../../src/simd/arena.js';
import { DenseStack } from '../../src/simd/dense-stack.js';
import { openKernels } from '../../src/simd/kernels.js';

/** States that are computed at once. */
const atOnce = 64;

/** Layers without biases, tanh between them. */
export interface HostForward {
  /**
   * @param states float32 [numStates, first width]
   * @returns float32 [numStates, stride], the outputs first in each row; a state's do not depend on the others
   */
  forward(states: Float32Array, numStates: number): Promise<{ values: Float32Array; stride: number }>;
  /** Has the weights read again before they are used. */
  weightsChanged(): void;
}

/**
 * Allocates nothing before it is used.
 * @param widths of the input and of each layer's output
 * @param readWeights reads float32 [width before, width] for each layer
 */
export function createHostForward(widths: readonly number[], readWeights: () => Promise<Float32Array[]>): HostForward {
  let stack: DenseStack | undefined;
  let current: Promise<Float32Array[]> | undefined;
  let loaded: Float32Array[] | undefined;

  function open(all: Float32Array[]): DenseStack {
    const arena = new Arena();
    const layers = all.map((weights, i) => {
      return { weights, rows: widths[i]!, columns: widths[i + 1]!, tanh: i < all.length - 1 };
    });
    return new DenseStack(arena, openKernels(arena.memory), layers, atOnce);
  }

  return {
    async forward(states, numStates) {
      const all = await (current ??= readWeights());
      // From here on nothing is awaited: the memory is used by one call at a time.
      if (stack && loaded !== all) stack.load(all);
      stack ??= open(all);
      loaded = all;
      const [inputWidth, stride] = [widths[0]!, stack.width];
      const values = new Float32Array(numStates * stride);
      for (let first = 0; first < numStates; first += atOnce) {
        const count = Math.min(atOnce, numStates - first);
        const outputs = stack.forward(states.subarray(first * inputWidth, (first + count) * inputWidth), count);
        values.set(outputs.subarray(0, count * stride), first * stride);
      }
      return { values, stride };
    },
    weightsChanged: () => (current = undefined),
  };
}
