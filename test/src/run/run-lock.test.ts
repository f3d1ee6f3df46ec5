import { describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLocked, lockFolder } from '../../../src/run/run-lock.js';

const folder = () => mkdtempSync(join(tmpdir(), 'kgwalk-lock-'));

test('a folder is locked once, and again after its release', () => {
  const place = folder();
  const release = lockFolder(place);
  expect(isLocked(place)).toBe(true);
  expect(() => lockFolder(place)).toThrow(`held by process ${process.pid} on ${hostname()}`);
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
