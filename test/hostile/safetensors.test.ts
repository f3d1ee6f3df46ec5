import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { checkSeal, writeSeal } from '../../checkpoints/safetensors.js';
import { decodeSafetensors, encodeSafetensors, readSafetensors } from '../../checkpoints/safetensors.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { noise, spoiltBytes, spoiltJson } from '../fixtures/spoilt.js';

const whole = encodeSafetensors({
  tensors: new Map([
    ['w', { shape: [2, 2], data: new Float32Array([1, 2, 3, 4]) }],
    ['steps', { shape: [], data: new BigInt64Array([7n]) }],
    ['__proto__', { shape: [1], data: new Uint8Array([1]) }],
  ]),
  metadata: new Map([['note', 'x']]),
});
const headerBytes = Number(Buffer.from(whole).readBigUInt64LE(0));
const headerText = Buffer.from(whole).toString('utf8', 8, 8 + headerBytes);
const data = Buffer.from(whole).subarray(8 + headerBytes);

/** With a digest that fits where the file still has a place for one, so that what lies beneath is read. */
function sealed(bytes: Buffer): Buffer {
  if (bytes.length >= 8 && checkSeal(bytes, 8) !== undefined) writeSeal(bytes, 8);
  return bytes;
}
function fileOf(header: string, stated = BigInt(Buffer.byteLength(header))): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(stated);
  return Buffer.concat([length, Buffer.from(header), data]);
}

/** Tensors have as many numbers as their shape says, and no prototype has grown. */
function isSound(result: unknown): void {
  const { tensors } = result as ReturnType<typeof decodeSafetensors>;
  for (const { shape, data: values } of tensors.values()) {
    expect(values).toHaveLength(shape.reduce((product, size) => product * size, 1));
  }
}

describe('safetensors', () => {
  const { path, write } = hostileFile('w.safetensors');

  test('files are tensors, or refused by name', async () => {
    const inputs = fc.oneof(
      noise,
      spoiltBytes(whole),
      { weight: 4, arbitrary: spoiltBytes(whole).map(sealed) },
      { weight: 4, arbitrary: spoiltJson(JSON.parse(headerText)).map((text) => sealed(fileOf(text))) },
    );
    await withstands(inputs, (bytes) => readSafetensors(write(bytes), { finite: true }), {
      place: path,
      check: isSound,
    });
  });

  test.each([2n ** 31n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n])('a header of %d bytes allocates nothing', (stated) => {
    expect(() => decodeSafetensors(fileOf(headerText, stated), 'w.safetensors')).toThrow(
      `expected a header of at most ${headerBytes + data.length} bytes, got ${stated}, at w.safetensors`,
    );
  });

  test.each([
    ['an enormous shape', [2 ** 31, 2 ** 31], [0, 16]],
    ['a shape that overflows into what is there', [2 ** 53 - 1, 2 ** 53 - 1, 0], [0, 16]],
    ['offsets beyond the data', [4], [2 ** 40, 2 ** 40 + 16]],
    ['a negative length', [4], [16, 0]],
  ])('%s is refused', (_name, shape, offsets) => {
    const header = JSON.stringify({ w: { dtype: 'F32', shape, data_offsets: offsets } });
    expect(() => decodeSafetensors(fileOf(header), 'w.safetensors')).toThrow(/^expected .* at w\.safetensors/);
  });
});
