import { beforeAll, describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readGgufHeader } from '../../../src/llm/gguf/read-header.js';
import { type GgufTensorData, writeGguf } from '../../../src/llama/write-gguf.js';
import { llamaLibrary } from '../../../src/llm/llama-library.js';
import { readGgufTensors } from '../../fixtures/gguf-tensors.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const folder = folderWith({});
const path = join(folder, 'written.gguf');
const metadata = {
  'general.architecture': 'llama',
  'a.flag': true,
  'a.size': { uint32: 4_000_000_000 },
  'a.rate': { float32: 0.5 },
  'a.words': ['é', '', 'Ġ"x"'],
  'a.kinds': Int32Array.of(-1, 3),
  'a.scores': Float32Array.of(0.25, -8),
};
const tensors: GgufTensorData[] = [
  { name: 'norm', shape: [3], type: 'F32', values: Float32Array.of(0.1, -2, 3) },
  { name: 'matrix', shape: [2, 3], type: 'F16', values: Float32Array.of(1, 1 / 3, -0.5, 2 ** -20, 65_504, 0) },
  {
    name: 'blocks',
    shape: [32, 2],
    type: 'Q8_0',
    values: Float32Array.from({ length: 64 }, (_, i) => (i < 32 ? (i - 16) / 3 : 0)),
  },
  { name: 'last', shape: [1], type: 'F16', values: Float32Array.of(7) },
];

describe('a written GGUF file', () => {
  beforeAll(() => writeGguf(path, metadata, tensors));

  test('is read back as it was meant', async () => {
    const header = readGgufHeader(path);
    expect(readFileSync(path).readUInt32LE(4)).toBe(3);
    expect(Object.fromEntries(header.metadata)).toEqual({
      'general.architecture': 'llama',
      'a.flag': true,
      'a.size': 4_000_000_000,
      'a.rate': 0.5,
    });
    expect(Object.fromEntries(header.arrayLengths)).toEqual({ 'a.words': 3, 'a.kinds': 2, 'a.scores': 2 });
    const { start } = header.tensors[0]!;
    expect(header.tensors.map(({ name, type, start: at }) => [name, type, at - start])).toEqual([
      ['norm', 'F32', 0],
      ['matrix', 'F16', 32],
      ['blocks', 'Q8_0', 64],
      ['last', 'F16', 160],
    ]);
    expect(start % 32).toBe(0);
    expect(readFileSync(path).length).toBe(start + 192);
  });

  test('holds the weights, rounded where it says so', async () => {
    const read = await readGgufTensors(path);
    expect(read.get('norm')).toEqual({ shape: [3], values: tensors[0]!.values });
    const [one, third, half, small, large, none] = read.get('matrix')!.values;
    expect([one, half, small, large, none]).toEqual([1, -0.5, 2 ** -20, 65_504, 0]);
    expect(Math.abs(third! - 1 / 3)).toBeLessThan(2 ** -13);
    const blocks = read.get('blocks')!.values;
    const step = 16 / 3 / 127;
    for (let i = 0; i < 32; i++) expect(Math.abs(blocks[i]! - (i - 16) / 3)).toBeLessThan(step * 0.6);
    expect([...blocks.subarray(32)]).toEqual(Array(32).fill(0));
  });

  test("is read alike by node-llama-cpp's own reader", async () => {
    const { readGgufFileInfo } = await llamaLibrary();
    const info = await readGgufFileInfo(path);
    expect(info.metadata).toMatchObject({ a: { words: ['é', '', 'Ġ"x"'], kinds: [-1, 3], scores: [0.25, -8] } });
    expect(info.tensorInfo?.map(({ name }) => name)).toEqual(['norm', 'matrix', 'blocks', 'last']);
  });

  test('has the same bytes each time', () => {
    const again = join(folder, 'again.gguf');
    writeGguf(again, metadata, tensors);
    expect(readFileSync(again).equals(readFileSync(path))).toBe(true);
  });
});

describe('what cannot be stored is refused, and leaves no file', () => {
  test.each([
    ['not a number', { values: Float32Array.of(1, NaN) }],
    ['too large for half precision', { values: Float32Array.of(1, 70_000) }],
    ['of another size', { values: Float32Array.of(1) }],
  ])('%s', (_, change) => {
    const before = readdirSync(folder);
    const tensor: GgufTensorData = { name: 'w', shape: [2], type: 'F16', ...change };
    const write = () => writeGguf(join(folder, 'wrong.gguf'), metadata, [tensor]);
    expect(write).toThrow(/expected 2 finite F16 values for w/);
    expect(readdirSync(folder)).toEqual(before);
  });

  test('rows that are no multiple of a block', () => {
    const tensor: GgufTensorData = { name: 'w', shape: [16, 2], type: 'Q8_0', values: new Float32Array(32) };
    const write = () => writeGguf(join(folder, 'wrong.gguf'), metadata, [tensor]);
    expect(write).toThrow(/rows of 16, no multiple of 32, at/);
  });
});

test('a file whose weights are cut short is refused', () => {
  const cut = join(folder, 'cut.gguf');
  writeFileSync(cut, readFileSync(path).subarray(0, -64));
  expect(() => readGgufHeader(cut)).toThrow(/cut short/);
});
