import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GgmlType, readGgufFileInfo } from 'node-llama-cpp';
import { readGgufHeader } from '../../../../src/llm/gguf/read-header.js';
import { modelFile } from '../../../../src/llm/model-files.js';
import { WorkbenchError } from '../../../../src/run/errors.js';
import { often } from '../../../fixtures/long-tests.js';
import { plainEntries, tinyGguf } from '../../../fixtures/tiny-gguf.js';
import { folderWith } from '../../../fixtures/tiny-release.js';

const path = join(folderWith({}), 'm.gguf');
const whole = tinyGguf({});

function check(bytes: Uint8Array) {
  writeFileSync(path, bytes);
  readGgufHeader(path);
}

test('a file shorter than its tensors is refused at any length', () => {
  for (let length = 0; length < whole.length; length += often(7, 1)) {
    expect(() => check(whole.subarray(0, length))).toThrow(WorkbenchError);
  }
  expect(() => check(whole.subarray(0, whole.length - 1))).toThrow(/cut short.*m\.gguf/);
});

test.each([
  ['another format', Buffer.from('PK\x03\x04 and more'), /does not start with "GGUF"/],
  ['an empty file', Buffer.alloc(0), /does not start with "GGUF"/],
  ['an old version', tinyGguf({ version: 1 }), /GGUF version 1/],
  ['big-endian bytes', tinyGguf({ version: 0x03000000 }), /big-endian/],
  ['2^40 tensors', tinyGguf({ tensorCount: 1n << 40n }), /more than the file can hold/],
  ['2^63 entries', tinyGguf({ entryCount: 1n << 63n }), /a length of 9223372036854775808 bytes/],
  ['an unknown type', tinyGguf({ entries: [['k', 99, 0]] }), /unknown type 99/],
  ['an alignment of zero', tinyGguf({ entries: [...plainEntries, ['general.alignment', 4, 0]] }), /alignment 0/],
  ['a tensor of 10^30 values', tinyGguf({ tensors: { w: [1e15, 1e15] } }), /cut short/],
])('%s is one clear error', (_name, bytes, message) => {
  expect(() => check(bytes)).toThrow(message);
});

test('a missing file and a folder are data errors', () => {
  expect(() => readGgufHeader(join(path, '..', 'none.gguf'))).toThrow(/got nothing/);
  expect(() => readGgufHeader(join(path, '..'))).toThrow(WorkbenchError);
});

test('the header of a model is what llama.cpp’s library reads of it', async () => {
  const { metadata, arrayLengths, tensors } = readGgufHeader(modelFile('demo', ''));
  const info = await readGgufFileInfo(modelFile('demo', ''), { sourceType: 'filesystem', logWarnings: false });
  const valueAt = (key: string) => key.split('.').reduce((inner: never, part) => inner[part]!, info.metadata as never);
  for (const [key, value] of metadata)
    expect([key, Number(value) || value]).toEqual([key, Number(valueAt(key)) || valueAt(key)]);
  for (const [key, length] of arrayLengths) expect(valueAt(key)).toHaveLength(length);
  expect(tensors).toEqual(
    info.tensorInfo!.map(({ name, dimensions, ggmlType, fileOffset }) => {
      return { name, shape: dimensions.map(Number), type: GgmlType[ggmlType], start: Number(fileOffset) };
    }),
  );
});
