import { memoryUsage } from 'node:process';
import { expect, test } from '@jest/globals';
import { openEncoderCache } from '../../../src/encoder/encoder-cache.js';
import { heldBytes } from '../../fixtures/collect-garbage.js';
import { folderWith } from '../../fixtures/tiny-release.js';

test('a cache that was opened and closed thirty times holds no memory', async () => {
  const folder = folderWith({});
  const openAndClose = async (times: number) => {
    for (let i = 0; i < times; i++) await (await openEncoderCache(folder)).close();
  };
  const held = () => memoryUsage().arrayBuffers;
  await openAndClose(2);
  // Few looks, since each collects all garbage; later releases only raise the bound.
  const most = (await heldBytes(held, -Infinity, 3)) + 30 * 10_000;
  await openAndClose(30);
  expect(await heldBytes(held, most)).toBeLessThan(most);
});
