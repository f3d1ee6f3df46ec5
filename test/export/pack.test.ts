import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { pack, rounded, unpack } from '../../export/pack.js';

test('data come back as they were: arrays of all types, maps, texts', async () => {
  const float = fc.float({ noNaN: true });
  await fc.assert(
    fc.asyncProperty(
      fc.float32Array({ noNaN: true }),
      fc.int32Array(),
      fc.uint8Array(),
      fc.array(
        fc.tuple(
          fc.string(),
          float.filter((one) => Number.isFinite(one) && !Object.is(one, -0)),
        ),
      ),
      async (floats, numbers, bytes, entries) => {
        const data = { floats, numbers, bytes, map: new Map(entries), nested: [{ again: floats, none: null }] };
        expect(await unpack(pack(data))).toEqual(data);
      },
    ),
    { numRuns: 40 },
  );
});

test('a view of a larger buffer is packed alone', async () => {
  const view = Float32Array.of(1, 2, 3, 4).subarray(1, 3);
  expect(await unpack(pack(view))).toEqual(Float32Array.of(2, 3));
});

test('rounded numbers differ by less than 2⁻¹⁸ of themselves', () => {
  fc.assert(
    fc.property(
      fc.float({ noNaN: true, noDefaultInfinity: true, min: Math.fround(1e-30), max: Math.fround(1e30) }),
      (value) => {
        const [other] = rounded(Float32Array.of(value));
        expect(Math.abs(other! - value)).toBeLessThanOrEqual(value * 2 ** -19);
      },
    ),
  );
});

test('rounded numbers take less room', () => {
  const values = Float32Array.from({ length: 5000 }, (_, i) => Math.sin(i));
  expect(pack(rounded(values)).length).toBeLessThan(0.85 * pack(values).length);
});
