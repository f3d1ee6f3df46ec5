/** Model files written anew as Q8_0. */
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { toFloat16 } from '../../../../src/llm/gguf/float16.js';
import { quantizeGguf } from '../../../../src/llm/gguf/quantize.js';
import { readGgufHeader, tensorTypeName } from '../../../../src/llm/gguf/read-header.js';
import { sha256File } from '../../../../src/run/files.js';
import { Rng } from '../../../../src/run/seeds.js';
import { fromFloat16 } from '../../../fixtures/gguf-tensors.js';
import { plainEntries, tinyGguf } from '../../../fixtures/tiny-gguf.js';

const folder = mkdtempSync(join(tmpdir(), 'kgwalk-quantize-'));
const [from, to] = [join(folder, 'from.gguf'), join(folder, 'to.gguf')];
const rng = new Rng(7);
const [rows, columns] = [3, 64];
const halves = (...values: number[]) => new Uint8Array(toFloat16(Float32Array.from(values)).buffer);

/** A matrix of a quantised type, with the numbers that its bytes stand for, worked out bit by bit. */
function blocks(type: 'Q4_1' | 'Q5_0' | 'Q5_1') {
  const values: number[] = [];
  const parts: Uint8Array[] = [];
  for (let block = 0; block < (rows * columns) / 32; block++) {
    const [scale, least] = [rng.normal(), rng.normal()].map(
      (value) => fromFloat16(toFloat16(Float32Array.of(value)))[0]!,
    );
    const bits = type === 'Q4_1' ? 4 : 5;
    const levels = Array.from({ length: 32 }, () => rng.integer(2 ** bits));
    const own =
      type === 'Q5_0' ? levels.map((level) => (level - 16) * scale!) : levels.map((level) => level * scale! + least!);
    values.push(...own);
    parts.push(halves(scale!), ...(type === 'Q5_0' ? [] : [halves(least!)]));
    if (bits === 5)
      parts.push(
        new Uint8Array(Uint32Array.of(levels.reduce((word, level, i) => word | ((level >> 4) << i), 0)).buffer),
      );
    parts.push(Uint8Array.from({ length: 16 }, (_, i) => (levels[i]! & 15) | ((levels[i + 16]! & 15) << 4)));
  }
  return { values, data: Buffer.concat(parts) };
}

const plain = Float32Array.from({ length: rows * columns }, () => rng.normal());
const upper = new Uint16Array(plain.buffer).filter((_, i) => i % 2 === 1);
const matrices = [
  { type: 0, values: [...plain], data: new Uint8Array(plain.buffer) },
  { type: 1, values: [...fromFloat16(toFloat16(plain))], data: new Uint8Array(toFloat16(plain).buffer) },
  {
    type: 30,
    values: [...new Float32Array(Uint32Array.from(upper, (bits) => bits << 16).buffer)],
    data: new Uint8Array(upper.buffer),
  },
  { type: 3, ...blocks('Q4_1') },
  { type: 6, ...blocks('Q5_0') },
  { type: 7, ...blocks('Q5_1') },
];
const noise = (length: number) => Uint8Array.from({ length }, () => rng.integer(256));
/** What stays: types with kernels, rows of no whole blocks, vectors, and matrices that no product is taken of. */
const left = [
  { name: 'quick.weight', shape: [columns, rows], type: 2, data: noise((rows * columns * 18) / 32) },
  { name: 'ready.weight', shape: [columns, rows], type: 8, data: noise((rows * columns * 34) / 32) },
  { name: 'odd.weight', shape: [20, 2], type: 1, data: noise(80) },
  { name: 'norm.weight', shape: [columns], type: 0, data: noise(4 * columns) },
  { name: 'blk.0.ffn_gate_inp.weight', shape: [columns, rows], type: 1, data: noise(2 * rows * columns) },
  { name: 'blk.0.bias', shape: [columns, rows], type: 1, data: noise(2 * rows * columns) },
];
const source = tinyGguf({
  entries: [...plainEntries, ['general.file_type', 4, 3], ['after', 8, 'general.file_type']],
  tensors: {},
  raw: [
    ...left,
    ...matrices.map(({ type, data }) => ({ name: `m${type}.weight`, shape: [columns, rows], type, data })),
  ],
});

describe('a model written anew', () => {
  writeFileSync(from, source);
  const { written, kept } = quantizeGguf(from, to);
  const header = readGgufHeader(to);
  const bytes = readFileSync(to);
  const dataOf = (name: string, length: number) => {
    const { offset } = header.tensors.find((tensor) => tensor.name === name)!;
    expect(offset % 32).toBe(0);
    return bytes.subarray(header.dataStart + offset, header.dataStart + offset + length);
  };

  test('has each matrix of slow numbers as Q8_0, as near as its scale allows', () => {
    expect(written).toBe(matrices.length);
    for (const { type, values } of matrices) {
      expect(header.tensors.find(({ name }) => name === `m${type}.weight`)).toMatchObject({
        type: 8,
        shape: [columns, rows],
      });
      const data = dataOf(`m${type}.weight`, (values.length / 32) * 34);
      for (let block = 0; block < values.length / 32; block++) {
        const own = values.slice(32 * block, 32 * block + 32);
        const scale = Math.fround(Math.max(...own.map(Math.abs)) / 127);
        const [stored] = fromFloat16(Uint16Array.of(data.readUInt16LE(34 * block)));
        expect(Math.abs(stored! - scale)).toBeLessThanOrEqual(scale / 2048);
        own.forEach((value, i) => {
          expect(Math.abs(data.readInt8(34 * block + 2 + i) - value / scale)).toBeLessThan(0.5 + 1e-4);
        });
      }
    }
  });

  test('has everything else as it was, and says so', () => {
    expect(kept).toEqual({ Q4_0: 1, Q8_0: 1, F16: 3, F32: 1 });
    for (const { name, data } of left) expect(Buffer.compare(dataOf(name, data.length), Buffer.from(data))).toBe(0);
    const before = readGgufHeader(from);
    expect(header.tensors.map(({ name }) => name)).toEqual(before.tensors.map(({ name }) => name));
    expect(new Map(header.metadata)).toEqual(new Map([...before.metadata, ['general.file_type', 7]]));
    expect(header.arrayLengths).toEqual(before.arrayLengths);
  });

  test('is the same when it is written again', () => {
    const again = join(folder, 'again.gguf');
    expect(quantizeGguf(to, again)).toMatchObject({ written: 0 });
    expect(Buffer.compare(readFileSync(again), bytes)).toBe(0);
  });
});

test.each([
  [
    'NaN',
    new Uint8Array(Float32Array.from({ length: 32 }, (_, i) => (i === 9 ? NaN : 1)).buffer),
    0,
    'm.weight with values that are not finite',
  ],
  ['a type of the future', new Uint8Array(64), 77, `m.weight of ${tensorTypeName(77)}`],
])('%s is refused by name, and nothing is written', (_name, data, type, message) => {
  const [bad, out] = [join(folder, 'bad.gguf'), join(folder, 'out.gguf')];
  writeFileSync(bad, tinyGguf({ tensors: {}, raw: [{ name: 'm.weight', shape: [32, 1], type, data }] }));
  expect(() => quantizeGguf(bad, out)).toThrow(message);
  expect(existsSync(out)).toBe(false);
});

const smol = join(env.KGWALK_TEST_DATA ?? 'nowhere', 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');
(existsSync(smol) ? test : test.skip)('SmolLM2 is what ggml’s own quantizer makes of it', async () => {
  const out = join(folder, 'smol.gguf');
  expect(quantizeGguf(smol, out)).toEqual({ written: 210, kept: { Q8_0: 1, F32: 61 } });
  // All 112,803,840 bytes of the matrices were compared with those of `gguf` 0.17.1 (quants.quantize).
  expect(await sha256File(out)).toBe('0c1d3326cd9793cfb7296113c063dd5c24e2bd734b48ec1a3d01b7158eca9387');
});
