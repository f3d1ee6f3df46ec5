import { describe, expect, test } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isLocked, lockFolder } from '../../../src/run/run-lock.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const folder = () => folderWith({});

test('a folder is locked once, and again after its release; the refusal names what it holds', () => {
  const place = folder();
  const release = lockFolder(place);
  expect(isLocked(place)).toBe(true);
  const expected = 'expected an evaluation without another writer';
  expect(() => lockFolder(place, 'an evaluation')).toThrow(
    `${expected}, got one held by process ${process.pid} on ${hostname()}`,
  );
  release();
  expect(isLocked(place)).toBe(false);
  lockFolder(place)();
  expect(readdirSync(place)).toEqual([]);
});

describe('a stale lock', () => {
  const takesOver = (content: string) => {
    const place = folder();
    writeFileSync(join(place, '.lock'), content);
    expect(isLocked(place)).toBe(false);
    const release = lockFolder(place);
    expect(JSON.parse(readFileSync(join(place, '.lock'), 'utf8'))).toMatchObject({ pid: process.pid });
    release();
    expect(readdirSync(place)).toEqual([]);
  };

  test('of a dead process is taken over', () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    takesOver(JSON.stringify({ pid, host: hostname(), born: '1' }));
  });

  (existsSync('/proc/self/stat') ? test : test.skip)('of a process that ended and was never asked for', async () => {
    // The shell becomes another program, which knows nothing of the child that it now has; the child outlives that moment.
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(String(line));
      const fields = () =>
        readFileSync(`/proc/${pid}/stat`, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ');
      while (fields()[0] !== 'Z') await setImmediate();
      takesOver(JSON.stringify({ pid, host: hostname(), born: fields()[19] }));
    } finally {
      parent.kill();
    }
  });

  test('of an earlier process with the number of a living one is taken over', () => {
    takesOver(JSON.stringify({ pid: process.pid, host: hostname(), born: 'before' }));
  });

  test.each(['', 'torn {', 'null', '{"pid":-1,"host":"x","born":""}'])('with the content %j is taken over', takesOver);
});

test('a lock of another machine is respected', () => {
  const place = folder();
  writeFileSync(join(place, '.lock'), JSON.stringify({ pid: 1, host: 'elsewhere.example', born: '1' }));
  expect(() => lockFolder(place)).toThrow('held by process 1 on elsewhere.example');
});

test('a lock that another process took meanwhile is not released', () => {
  const place = folder();
  const release = lockFolder(place);
  const other = JSON.stringify({ pid: 1, host: 'elsewhere.example', born: '1' });
  writeFileSync(join(place, '.lock'), other);
  release();
  expect(readFileSync(join(place, '.lock'), 'utf8')).toBe(other);
});
