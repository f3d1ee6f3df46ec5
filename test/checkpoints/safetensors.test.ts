import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Tensor, TensorData } from '../../checkpoints/safetensors.js';
import { decodeSafetensors, encodeSafetensors, readSafetensors } from '../../checkpoints/safetensors.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { anyCharacters } from '../fixtures/any-characters.js';

const folder = mkdtempSync(join(tmpdir(), 'kgwalk-safetensors-'));
afterAll(() => rmSync(folder, { recursive: true }));

const tensor = (shape: number[], data: TensorData): Tensor => ({ shape, data });
const encode = (tensors: Record<string, Tensor>, metadata: Record<string, string> = {}) =>
  encodeSafetensors({ tensors: new Map(Object.entries(tensors)), metadata: new Map(Object.entries(metadata)) });

/** A file from a hand-written header. */
function fileOf(header: string, data: number[] = [], headerLength?: bigint): Uint8Array {
  const text = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, headerLength ?? BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes;
}

function reasonOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(WorkbenchError);
    expect((error as WorkbenchError).code).toBe('data');
    return (error as WorkbenchError).message;
  }
  throw new Error('expected a refusal');
}

const refusal = (header: string, data: number[] = [], headerLength?: bigint) =>
  reasonOf(() => decodeSafetensors(fileOf(header, data, headerLength), 'x.safetensors'));

const anyArray: fc.Arbitrary<TensorData> = fc.oneof(
  fc.float32Array({ maxLength: 12 }),
  fc.float64Array({ maxLength: 12 }),
  fc.int32Array({ maxLength: 12 }),
  fc.uint8Array({ maxLength: 12 }),
  fc.int16Array({ maxLength: 12 }),
  fc.bigInt64Array({ maxLength: 12 }),
);
const anyName = anyCharacters().filter((name) => name !== '__metadata__');
const anyTensors = fc.array(fc.tuple(anyName, anyArray), { maxLength: 6 });

describe('safetensors', () => {
  test('one float tensor is laid out as the format says', () => {
    const bytes = encode({ w: tensor([2, 1], new Float32Array([1, -2])) });
    const file = (digest: string) => {
      const header = `{"__metadata__":{"kgwalk-sha256":"${digest}"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}`;
      return fileOf(header.padEnd(Math.ceil(header.length / 8) * 8), [0, 0, 128, 63, 0, 0, 0, 192]);
    };
    const digest = createHash('sha256')
      .update(file('0'.repeat(64)))
      .digest('hex');
    expect(bytes).toEqual(file(digest));
  });

  test('everything written is read back', () => {
    fc.assert(
      fc.property(anyTensors, fc.dictionary(fc.string(), fc.string()), (entries, metadata) => {
        const tensors = new Map(entries.map(([name, data]) => [name, tensor([data.length], data)]));
        const bytes = encodeSafetensors({ tensors, metadata: new Map(Object.entries(metadata)) });
        const content = decodeSafetensors(bytes, 'x');
        expect(new Map([...content.tensors].sort())).toEqual(new Map([...tensors].sort()));
        expect(content.metadata).toEqual(new Map(Object.entries(metadata)));
        expect(content.seal).toMatch(/^[0-9a-f]{64}$/);
      }),
    );
  });

  test('the order in which tensors and metadata are given changes no byte', () => {
    const a = tensor([1], new Uint8Array([1]));
    const b = tensor([], new Float64Array([2]));
    expect(encode({ a, b }, { x: '1', y: '2' })).toEqual(encode({ b, a }, { y: '2', x: '1' }));
  });

  test('the widest elements come first, so every tensor is aligned and no byte is wasted', () => {
    const bytes = encode({ a: tensor([3], new Uint8Array(3)), b: tensor([1], new Float64Array(1)) });
    expect(new TextDecoder().decode(bytes)).toMatch(/"b":.*\[0,8\].*"a":.*\[8,11\]/);
  });

  test('tensors named __proto__ or constructor are ordinary tensors', () => {
    const content = decodeSafetensors(
      fileOf('{"__proto__":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', [7]),
      'x.safetensors',
    );
    expect(content.tensors.get('__proto__')).toEqual(tensor([1], new Uint8Array([7])));
    expect(({} as Record<string, unknown>).dtype).toBeUndefined();
  });

  test('a node Buffer inside a larger pool is read at its own offset', () => {
    const bytes = encode({ w: tensor([2], new Float32Array([3, 4])) });
    const pooled = Buffer.concat([Buffer.from('odd'), bytes]).subarray(3);
    expect(decodeSafetensors(pooled, 'x').tensors.get('w')).toEqual(tensor([2], new Float32Array([3, 4])));
  });

  test('every proper prefix of a file is refused', () => {
    const bytes = encode({ w: tensor([3], new Float32Array(3)), n: tensor([1], new Int32Array(1)) }, { k: 'v' });
    for (let length = 0; length < bytes.length; length++) {
      reasonOf(() => decodeSafetensors(bytes.subarray(0, length), 'cut.safetensors'));
    }
  });

  test('damaged headers are refused with the reason', () => {
    expect(refusal('{}', [], 2n ** 63n)).toContain('a header of at most 2 bytes');
    expect(refusal('{"a"')).toContain('a JSON header');
    expect(refusal('[]')).toContain('a JSON object');
    expect(refusal('{"__metadata__":{"a":1}}')).toContain('texts by key');
    expect(refusal('{"a":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}}', [1])).toContain('got F8');
    expect(refusal('{"a":{"dtype":"toString","shape":[1],"data_offsets":[0,1]}}', [1])).toContain('got toString');
    expect(refusal('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}', [1, 2, 3, 4])).toContain(
      '8 bytes for [2]',
    );
    expect(refusal('{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}', [1])).toContain('shape');
    expect(refusal('{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}}', [1])).toContain('1 bytes for [1]');
    expect(refusal('{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}', [1])).toContain('9 bytes of data');
    expect(refusal('{}', [1])).toContain('0 bytes of data');
  });

  test('tensors may neither overlap nor leave holes', () => {
    const two = (begin: number) =>
      `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[${begin},${begin + 2}]}}`;
    expect(refusal(two(1), [1, 2, 3])).toContain('data from byte 2 on, got 1');
    expect(refusal(two(3), [1, 2, 3, 4, 5])).toContain('data from byte 2 on, got 3');
  });

  test('arbitrary bytes and arbitrary headers give a data error or a file, never another failure', () => {
    const attempt = (bytes: Uint8Array) => {
      try {
        decodeSafetensors(bytes, 'fuzz');
      } catch (error) {
        if (!(error instanceof WorkbenchError) || error.code !== 'data') throw error;
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), attempt));
    fc.assert(fc.property(fc.json(), (json) => attempt(fileOf(json, [1, 2, 3, 4]))));
    const info = fc.record({
      dtype: fc.constantFrom('F32', 'U8', 'I64', '__proto__'),
      shape: fc.array(fc.nat(4), { maxLength: 3 }),
      data_offsets: fc.tuple(fc.nat(9), fc.nat(9)),
    });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), info, { maxKeys: 3 }), fc.nat(9), (header, length) =>
        attempt(fileOf(JSON.stringify(header), new Array<number>(length).fill(0))),
      ),
    );
    const valid = encode({ w: tensor([2], new Float32Array([1, 2])) }, { k: 'v' });
    fc.assert(
      fc.property(fc.nat(valid.length - 1), fc.nat(255), (at, byte) => attempt(valid.with(at, byte))),
      { numRuns: 300 },
    );
  });

  test('NaN and infinities are refused on demand, with the tensor and the element', () => {
    const bytes = encode({ w: tensor([3], new Float32Array([0, 1, NaN])) });
    expect(decodeSafetensors(bytes, 'x').tensors.get('w')!.data[2]).toBeNaN();
    expect(reasonOf(() => decodeSafetensors(bytes, 'x', { finite: true }))).toContain(
      'NaN, at x, tensor "w", element 2',
    );
  });

  test('a shape that does not match its data is refused when writing', () => {
    expect(() => encode({ w: tensor([2], new Float32Array(3)) })).toThrow('3 elements for shape [2]');
    expect(() => encode({ __metadata__: tensor([1], new Uint8Array(1)) })).toThrow('__metadata__');
  });

  test('a changed byte is found at any offset; without its sha256 a file is read like that of any other program', () => {
    const bytes = encode({ w: tensor([3], new Float32Array([1, 2, 3])) }, { k: 'v' });
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.with(at, bytes[at]! ^ 1);
      const key = /^{"__metadata__":{"kgwalk-sha256":"/.test(new TextDecoder().decode(changed.subarray(8)));
      if (key) reasonOf(() => decodeSafetensors(changed, 'changed.safetensors'));
      else {
        try {
          expect(decodeSafetensors(changed, 'changed.safetensors').seal).toBeUndefined();
        } catch (error) {
          expect(error).toBeInstanceOf(WorkbenchError);
        }
      }
    }
    const { seal, metadata } = decodeSafetensors(fileOf('{"__metadata__":{"k":"v"}}'), 'x');
    expect([seal, [...metadata]]).toEqual([undefined, [['k', 'v']]]);
  });

  test('a missing file and one that is cut short are data errors that name it', () => {
    const file = join(folder, 'a.safetensors');
    const bytes = encode({ w: tensor([3], new Float32Array(3)) }, { k: 'v' });
    writeFileSync(file, bytes);
    expect(readSafetensors(file).tensors.get('w')).toEqual(tensor([3], new Float32Array(3)));
    writeFileSync(file, bytes.subarray(0, bytes.length - 1));
    expect(reasonOf(() => readSafetensors(file))).toContain(`12 bytes of data, got 11, at ${file}`);
    expect(reasonOf(() => readSafetensors(join(folder, 'none.safetensors')))).toContain('none.safetensors');
  });
});
