import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeModel, readTextModel } from '../../src/llm/gguf/model-facts.js';
import { checkGguf, readGgufHeader } from '../../src/llm/gguf/read-header.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { noise, spoiltBytes } from '../fixtures/spoilt.js';
import { plainEntries, tinyGguf } from '../fixtures/tiny-gguf.js';

const odd = tinyGguf({
  entries: [...plainEntries, ['__proto__', 8, '<|im_start|>'], ['a', 4, 1]],
  tensors: { __proto__: [2] },
});

test('model files are read, or refused with their name, for any header', async () => {
  const { path, write } = hostileFile('m.gguf');
  const inputs = fc.oneof(noise, { weight: 8, arbitrary: spoiltBytes(tinyGguf({}), odd) });
  const read = async (bytes: Buffer) => {
    write(bytes);
    await describeModel(path);
    await readTextModel(path, 'embeds');
    return readGgufHeader(path);
  };
  await withstands(inputs, read, { place: path, runs: [60, 10_000] });
});

test.each([2n ** 31n, 2n ** 40n, 2n ** 53n, 2n ** 63n])(
  'a header of %d entries or tensors allocates nothing',
  (count) => {
    const { path, write } = hostileFile('m.gguf');
    write(tinyGguf({ tensorCount: count }));
    expect(() => checkGguf(path)).toThrow(/more than the file can hold|a length of \d+ bytes/);
    write(tinyGguf({ entryCount: count }));
    expect(() => checkGguf(path)).toThrow(/more than the file can hold|a length of \d+ bytes/);
  },
);
