import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { hashedFile, sha256File } from '../../../src/run/files.js';
import { folderWith } from '../../fixtures/tiny-release.js';

let path: string;
beforeEach(() => {
  path = join(folderWith({}), 'model.gguf');
  writeFileSync(path, 'abc');
});
const refusal = { name: 'WorkbenchError', code: 'data', fatal: true };

test('a file that stays as it is passes, as does one that was touched or replaced by an equal one', async () => {
  const file = await hashedFile(path);
  expect(file.hash).toBe(await sha256File(path));
  await file.check();
  utimesSync(path, 1, 1);
  await file.check();
  writeFileSync(`${path}.new`, 'abc');
  renameSync(`${path}.new`, path);
  await file.check();
});

test('a file that was altered in place, replaced or removed is refused, until it is back', async () => {
  const file = await hashedFile(path);
  writeFileSync(path, 'abd');
  await expect(file.check()).rejects.toMatchObject({
    ...refusal,
    message: expect.stringContaining(`got another, at ${path}`),
  });
  writeFileSync(`${path}.new`, 'abcd');
  renameSync(`${path}.new`, path);
  await expect(file.check()).rejects.toMatchObject(refusal);
  rmSync(path);
  await expect(file.check()).rejects.toMatchObject({ ...refusal, message: expect.stringContaining('got nothing') });
  writeFileSync(path, 'abc');
  await file.check();
});

test('a file that changes while it is hashed is refused', async () => {
  const hashing = hashedFile(path, async (name) => {
    const hash = await sha256File(name);
    writeFileSync(name, 'abd');
    return hash;
  });
  await expect(hashing).rejects.toMatchObject(refusal);
});
