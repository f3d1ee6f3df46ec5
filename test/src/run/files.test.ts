import { describe, expect, test, beforeEach } from '@jest/globals';
import { mkdirSync, readdirSync, readFileSync, writeFileSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pid, ppid } from 'node:process';
import { WorkbenchError } from '../../../src/run/errors.js';
import {
  machine,
  readTextFile,
  removeLeftovers,
  sha256File,
  writeError,
  writeFileAtomic,
  hashedFile,
} from '../../../src/run/files.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const folder = () => folderWith({});

describe('an atomic write', () => {
  test('creates missing folders, writes text, bytes or chunks over what was there, and leaves no other file', () => {
    const file = join(folder(), 'a/b/file');
    for (const data of ['søster', Buffer.from('søster'), [Buffer.from('sø'), new Uint8Array(), Buffer.from('ster')]]) {
      writeFileAtomic(file, data);
      expect(readFileSync(file, 'utf8')).toBe('søster');
      expect(readdirSync(dirname(file))).toEqual(['file']);
    }
  });

  test('that fails leaves what was there and nothing half-written', () => {
    const place = folder();
    mkdirSync(join(place, 'taken/inside'), { recursive: true });
    expect(() => writeFileAtomic(join(place, 'taken'), 'x')).toThrow(WorkbenchError);
    expect(readdirSync(place)).toEqual(['taken']);
  });

  test('on a full disk says so, names the folder and the remedy', () => {
    const full = Object.assign(new Error('write'), { code: 'ENOSPC' });
    expect(writeError(full, '/data/run/state.json')).toMatchObject({
      code: 'failure',
      message: 'no space left at /data/run, writing state.json',
      hint: expect.stringContaining('Free some space'),
    });
  });
});

describe('reading', () => {
  test('a missing file is an error with what was expected and where', () => {
    expect(() => readTextFile('/no/such/file', 'a preset')).toThrow('expected a preset, got nothing, at /no/such/file');
  });

  test('a folder and bytes that are not UTF-8 are refused', () => {
    const place = folder();
    writeFileSync(join(place, 'latin1'), Buffer.from([0x66, 0xfc, 0x72]));
    expect(() => readTextFile(place, 'a preset')).toThrow('got a folder');
    expect(() => readTextFile(join(place, 'latin1'), 'a preset')).toThrow('bytes that are not UTF-8');
  });

  test('a byte order mark is dropped', () => {
    const file = join(folder(), 'bom');
    writeFileSync(file, '\ufeffname: x');
    expect(readTextFile(file, 'a preset')).toBe('name: x');
  });

  test('sha256 of "abc" is the standard vector', async () => {
    const file = join(folder(), 'abc');
    writeFileSync(file, 'abc');
    expect(await sha256File(file)).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    await expect(sha256File(`${file}-missing`)).rejects.toThrow('expected a file, got nothing');
  });
});

describe('what a killed write left', () => {
  test('blocks no one, not even a process of the same number', () => {
    const place = folder();
    const file = join(place, 'a.json');
    for (let write = 1; write <= 100; write++)
      writeFileSync(join(place, `.a.json.${pid}@${machine}.${write}.tmp`), 'half');
    writeFileAtomic(file, '2');
    expect(readFileSync(file, 'utf8')).toBe('2');
    removeLeftovers(place);
    expect(readdirSync(place)).toEqual(['a.json']);
  });

  test('goes; of a file that others write too, what a living process is writing stays', () => {
    const gone = 2 ** 22 + 1;
    const dead = ['a', 'b'].map((name) => `.${name}.json.${gone}@${machine}.1.tmp`);
    const other = [`.a.json.${gone}@another.1.tmp`, `.b.json.${gone}@another.1.tmp`];
    const live = [`.a.json.${ppid}@${machine}.1.tmp`, other[0]!, '.mine.tmp', 'a.json'];
    const place = folder();
    for (const name of [...dead, ...other, ...live]) writeFileSync(join(place, name), '');
    // A machine that has written nothing for two hours.
    const before = Date.now() / 1000 - 7200;
    utimesSync(join(place, other[1]!), before, before);
    removeLeftovers(place, 'a.json');
    expect(readdirSync(place).sort()).toEqual([dead[1], other[1], ...live].sort());
    removeLeftovers(place);
    expect(readdirSync(place).sort()).toEqual(live.sort());
    removeLeftovers(join(place, 'missing'));
  });
});

describe('a file known by its hash', () => {
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
});
