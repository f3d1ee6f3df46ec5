/** Files next to a lock while it is taken, and file system errors: a lock over a watched disk that fails on demand. */
import * as disk from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pid } from 'node:process';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { thrownBy } from '../../fixtures/thrown.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } = disk;

/** Runs before a system call; may throw. */
let before: Partial<Record<'linkSync' | 'writeFileSync' | 'readFileSync', (file: string) => void>> = {};
beforeEach(() => void (before = {}));

jest.unstable_mockModule('node:fs', () => {
  const watched = (name: 'linkSync' | 'writeFileSync' | 'readFileSync') => ({
    [name]: (file: string, ...of: unknown[]) => {
      before[name]?.(String(file));
      return (disk[name] as (...all: unknown[]) => unknown)(file, ...of);
    },
  });
  const all = { ...disk, ...watched('linkSync'), ...watched('writeFileSync'), ...watched('readFileSync') };
  return { ...all, default: all };
});
const { isLocked, lockedFile, lockFile, lockFolder } = await import('../../../src/run/run-lock.js');

const machine = hostname().replace(/[^\w.-]/g, '_');
/** No process has it. */
const deadPid = 2 ** 22 + 1;
const born = existsSync('/proc/self/stat')
  ? readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19]!
  : '';
const failing = (code: string) => () => {
  throw Object.assign(new Error(`${code}: says the disk`), { code });
};
const newLock = () => join(folderWith({}), '.lock');
const holderOf = (lock: string) => JSON.parse(readFileSync(lock, 'utf8')) as { pid: number };

describe('claims', () => {
  // Pauses between looks at the claims of others.
  beforeEach(() => void jest.spyOn(Atomics, 'wait').mockReturnValue('timed-out'));
  afterEach(() => void jest.restoreAllMocks());

  test('of processes that died while they made one go with the next lock, and nothing else does', () => {
    const lock = newLock();
    const others = [
      `xx.lock.${deadPid}-1-aaaaaaaaaaaa-${machine}`,
      `.lock.${deadPid}-1-short-${machine}`,
      `zzzzzz${deadPid}-1-aaaaaaaaaaaa-${machine}`,
    ];
    for (const name of others) writeFileSync(join(dirname(lock), name), '');
    let claim = '';
    before.linkSync = (file) => {
      claim = basename(file);
      // As the claim of this process, by one that is gone.
      writeFileSync(join(dirname(lock), claim.replace(`.${pid}-`, `.${deadPid}-`)), '');
    };
    const release = lockFile(lock, 'a run');
    expect(claim).toMatch(new RegExp(`^\\.lock\\.${pid}-${born}-[0-9a-f]{12}-`));
    expect(readdirSync(dirname(lock)).sort()).toEqual(['.lock', ...others].sort());
    release();
    expect(readdirSync(dirname(lock)).sort()).toEqual([...others].sort());
  });

  test('of a living process keep a dead lock from being taken over, and are waited for', () => {
    const lock = newLock();
    writeFileSync(lock, JSON.stringify({ pid: deadPid, host: machine, born: '1' }));
    const rival = `${lock}.${pid}-${born}-000000000000-${machine}`;
    writeFileSync(rival, '');
    const { message, hint } = thrownBy(() => lockFile(lock, 'a run'));
    expect(message).toContain(`held by process ${pid} on ${machine}`);
    expect(hint).toContain(`delete ${rival}`);
    expect(readdirSync(dirname(lock)).sort()).toEqual(['.lock', basename(rival)].sort());
    // It goes while it is waited for.
    let looks = 0;
    before.readFileSync = (file) => {
      if (file.startsWith('/proc/') && ++looks === 20) rmSync(rival);
    };
    lockFile(lock, 'a run')();
    expect(readdirSync(dirname(lock))).toEqual([]);
  });

  test('of another machine count as living', () => {
    const lock = newLock();
    writeFileSync(lock, 'torn');
    writeFileSync(`${lock}.1-1-000000000000-elsewhere.example`, '');
    expect(thrownBy(() => lockFile(lock, 'a run')).message).toContain('held by process 1 on elsewhere.example');
  });
});

describe('a file system', () => {
  test.each(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'])(
    'without links (%s) has locks all the same',
    (code) => {
      const lock = newLock();
      before.linkSync = failing(code);
      const release = lockFile(lock, 'a run');
      expect(holderOf(lock).pid).toBe(pid);
      expect(() => lockFile(lock, 'a run')).toThrow('without another writer');
      release();
      expect(readdirSync(dirname(lock))).toEqual([]);
    },
  );

  test.each([
    ['linkSync', 'EIO'],
    ['writeFileSync', 'EROFS'],
    ['writeFileSync', 'ENOSPC'],
  ] as const)('that fails (%s: %s) is said, and nothing is left behind', (name, code) => {
    const lock = newLock();
    before[name] = failing(code);
    // Of a failure that says nothing of the place or the disk the system's own words stay.
    const refused = {
      code: code === 'EIO' ? code : 'failure',
      message: expect.stringContaining(code === 'EIO' ? code : dirname(lock)),
    };
    expect(thrownBy(() => lockFile(lock, 'a run'))).toMatchObject(refused);
    expect(readdirSync(dirname(lock))).toEqual([]);
  });

  test('on which a lock cannot be read says so, and one that goes while it is read is none', () => {
    const lock = newLock();
    writeFileSync(lock, 'x');
    before.readFileSync = (file) => (file === lock ? failing('EIO')() : undefined);
    expect(() => isLocked(dirname(lock))).toThrow('EIO');
    before.readFileSync = (file) => (file === lock ? failing('ENOENT')() : undefined);
    expect(isLocked(dirname(lock))).toBe(false);
  });
});

describe('in the place of a lock', () => {
  test.each([
    ['a folder', (lock: string) => mkdirSync(lock), 'a folder'],
    ['a link', (lock: string) => symlinkSync(lock, lock), 'something that is no file'],
    ['a giant file', (lock: string) => writeFileSync(lock, 'x'.repeat(4097)), '4097 bytes'],
  ])('%s is refused, and stays', (_, make, got) => {
    const lock = newLock();
    make(lock);
    expect(() => isLocked(dirname(lock))).toThrow(`expected the lock of a process, got ${got}, at ${lock}`);
    expect(() => lockFolder(dirname(lock))).toThrow(got);
    expect(readdirSync(dirname(lock))).toEqual(['.lock']);
  });

  test('a file of unknown origin is taken over if it is no longer than a lock may be', () => {
    const lock = newLock();
    writeFileSync(lock, 'x'.repeat(4096));
    lockFile(lock, 'a run')();
    expect(existsSync(lock)).toBe(false);
  });
});

describe('who waits for a lock', () => {
  test('gets it once it is free', async () => {
    const lock = newLock();
    const release = lockFile(lock, 'a table');
    let taken = false;
    const waiting = lockedFile(lock).then((own) => ((taken = true), own));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(taken).toBe(false);
    release();
    (await waiting)();
    expect(existsSync(lock)).toBe(false);
  });

  test('can be stopped, and gets a free one all the same', async () => {
    const lock = newLock();
    const signal = AbortSignal.abort();
    (await lockedFile(lock, signal))();
    const release = lockFile(lock, 'a table');
    await expect(lockedFile(lock, signal)).rejects.toMatchObject({ code: 'stopped' });
    release();
  });
});
