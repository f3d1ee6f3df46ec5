import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Rng } from '../../../src/run/seeds.js';
import { readTensor, roundedToBfloat16, throughBfloat16 } from '../../../src/tensor/ops.js';
import { openBackend, type Tf } from '../../../src/tensor/backend.js';
import { backendsHere } from '../../fixtures/tensor-backends.js';

/** float32 numbers from their bits. */
const fromBits = (bits: readonly number[]) => new Float32Array(Uint32Array.from(bits).buffer);

/** The nearest number of 8 significant bits, the even one of two, by arithmetic in float64. */
function nearest(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - 7);
  const steps = value / unit;
  const down = Math.floor(steps);
  const half = steps - down === 0.5;
  return unit * (half ? down + (down % 2 === 0 ? 0 : 1) : Math.round(steps));
}

/** Every upper half of a binade with lower halves at, next to and away from the tie, at several sizes and both signs. */
function manyNumbers(): Float32Array {
  const bits: number[] = [];
  for (const exponent of [1, 30, 100, 126, 127, 128, 140, 200, 230]) {
    for (let upper = 0; upper < 128; upper++) {
      for (const lower of [0, 1, 0x1234, 0x7fff, 0x8000, 0x8001, 0xc000, 0xffff]) {
        const magnitude = exponent * 2 ** 23 + upper * 2 ** 16 + lower;
        bits.push(magnitude, magnitude + 2 ** 31);
      }
    }
  }
  const rng = Rng.named(1, 'test/bfloat16');
  return Float32Array.from([...fromBits(bits), ...Array.from({ length: 5000 }, () => rng.normal()), 0, -0]);
}

const numbers = manyNumbers();

describe('rounding to bfloat16', () => {
  test('takes the nearest number of 8 significant bits, at ties the even one', () => {
    expect([...roundedToBfloat16(Float32Array.of(1, 257, 258, 259, 261, -257, -259, 1 / 3))]).toEqual([
      1, 256, 258, 260, 260, -256, -260, 0.333984375,
    ]);
    expect(roundedToBfloat16(numbers)).toEqual(Float32Array.from(numbers, nearest));
  });

  test('leaves what is not finite and what it was given', () => {
    const given = Float32Array.of(NaN, Infinity, -Infinity, 1.001);
    expect([...roundedToBfloat16(given)]).toEqual([NaN, Infinity, -Infinity, 1]);
    expect(given[3]).toBe(Math.fround(1.001));
    // Not the first of its memory.
    expect([...roundedToBfloat16(given.subarray(3))]).toEqual([1]);
  });
});

describe.each(await backendsHere())('on %s', (name) => {
  let tf: Tf;
  let before = 0;
  beforeAll(async () => {
    tf = (await openBackend(name)).tf;
    before = tf.memory().numTensors;
  });
  afterAll(() => expect(tf.memory().numTensors).toBe(before));

  test('a tensor is rounded as bits are', async () => {
    const rounded = await readTensor(tf, () => throughBfloat16(tf, tf.tensor1d(numbers)));
    expect(rounded).toEqual(roundedToBfloat16(numbers));
  });

  test('gradients pass straight through, of a tensor that is read twice too', async () => {
    const grads = await readTensor(tf, () => {
      // x² + bf16(x) · 3: where nothing were rounded 2x + 3.
      const both = (x: Parameters<typeof tf.square>[0]) => {
        const input = x as ReturnType<typeof tf.tensor1d>;
        return tf.sum(tf.add(tf.square(input), tf.mul(throughBfloat16(tf, input), 3)));
      };
      return tf.grad(both)(tf.tensor1d([1.001, -2, 0]));
    });
    [5.002, -1, 3].forEach((grad, i) => expect(grads[i]).toBeCloseTo(grad, 5));
  });
});
