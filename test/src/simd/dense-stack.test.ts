import { describe, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { Arena } from '../../../src/simd/arena.js';
import { DenseStack, type DenseLayer } from '../../../src/simd/dense-stack.js';
import { openKernels } from '../../../src/simd/kernels.js';

const rng = new Rng(3);
const normal = (length: number, scale = 1) => Float32Array.from({ length }, () => rng.normal() * scale);

/** Float64 version of the stack. */
function plainForward(layers: readonly DenseLayer[], state: ArrayLike<number>): number[] {
  return layers.reduce<number[]>(
    (input, { weights, columns, tanh }) =>
      Array.from({ length: columns }, (_, c) => {
        const sum = input.reduce((total, x, k) => total + x * weights[k * columns + c]!, 0);
        return tanh ? Math.tanh(sum) : sum;
      }),
    Array.from(state),
  );
}

const sizes = [
  [5, 7, 3],
  [16, 16, 16],
  [33, 40, 17],
] as const;

describe('layers on the host', () => {
  test.each(sizes)('%i → %i → %i agree with plain numbers, for any number of states', (inputs, hidden, outputs) => {
    const layers: DenseLayer[] = [
      { weights: normal(inputs * hidden, 0.3), rows: inputs, columns: hidden, tanh: true },
      { weights: normal(hidden * outputs, 0.3), rows: hidden, columns: outputs, tanh: false },
    ];
    const arena = new Arena();
    const stack = new DenseStack(arena, openKernels(arena.memory), layers, 9);
    const states = normal(9 * inputs, 2);
    const all = stack.forward(states, 9).slice(0, 9 * stack.width);
    for (let s = 0; s < 9; s++) {
      const state = states.subarray(s * inputs, (s + 1) * inputs);
      const of = all.subarray(s * stack.width, s * stack.width + outputs);
      plainForward(layers, state).forEach((value, c) => expect(Math.abs(of[c]! - value)).toBeLessThan(5e-6));
      // The same bytes alone as among others.
      expect(stack.forward(state, 1).slice(0, outputs)).toEqual(of);
    }
  });
});
