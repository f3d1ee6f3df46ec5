import { test } from '@jest/globals';
import fc from 'fast-check';
import { openNpy } from '../../src/embedding/npy.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { npyBytes } from '../fixtures/npy-files.js';
import { noise, spoiltBytes } from '../fixtures/spoilt.js';

const { path, write } = hostileFile('e.npy');
const file = npyBytes(
  Float32Array.from({ length: 24 }, (_, i) => i / 7),
  8,
);
/** A shape that lies, of any sizes: nothing may be allocated by it. */
const shapes = fc.array(fc.oneof(fc.nat(40), fc.bigInt(0n, 2n ** 64n)), { maxLength: 3 });

test('matrices are read, or refused by name', async () => {
  const inputs = fc.oneof(
    noise,
    { weight: 3, arbitrary: spoiltBytes(file) },
    { weight: 2, arbitrary: shapes.map((sizes) => npyBytes(new Float32Array(24), 8, { shape: sizes.join(', ') })) },
  );
  const read = (bytes: Uint8Array) => {
    const matrix = openNpy(write(bytes));
    try {
      let sum = 0;
      matrix.eachRow((row) => (sum += row[0]!));
      return sum;
    } finally {
      matrix.close();
    }
  };
  await withstands(inputs, read, { place: path });
});
