import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { chdir, cwd, env } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kgwalkJson } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';

useOwnHome();

const previous = cwd();
beforeAll(() => {
  delete env.KGWALK_RUNS;
});
afterAll(() => chdir(previous));

/** Findings of the doctor in a folder, by part. */
async function findingsIn(folder: string, home: string) {
  chdir(folder);
  env.KGWALK_HOME = home;
  const findings = await kgwalkJson<{ part: string; status: string; detail: string; remedy?: string }[]>('doctor');
  return Object.fromEntries(findings.map(({ part, ...finding }) => [part, finding]));
}

describe('the doctor', () => {
  test('names every rung of the backend ladder, finds one that always works, and leaves nothing behind', async () => {
    const folder = folderWith({});
    const findings = await findingsIn(folder, folder);
    const worksEverywhere = ['node', 'backend simd', 'backend wasm', 'lmdb', 'chartjs-node-canvas', 'node-llama-cpp'];
    for (const part of [...worksEverywhere, 'disk home', 'disk runs']) expect(findings[part]!.status).toBe('ok');
    expect(Object.keys(findings)).toEqual(expect.arrayContaining(['machine', 'backend tensorflow', 'data']));
    const { status, detail } = findings['backend webgpu']!;
    expect(detail).toMatch(status === 'ok' ? /^\S.*, trains a small network correctly$/ : /^no /);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('sees places that cannot be written, and says what to do', async () => {
    const folder = folderWith({ runs: 'a file where the folder of runs should be', home: 'another' });
    const findings = await findingsIn(folder, join(folder, 'home', 'kgwalk'));
    expect(findings['disk runs']).toMatchObject({ status: 'missing', remedy: expect.stringContaining('--run-dir') });
    expect(findings['disk home']).toMatchObject({ status: 'missing', remedy: expect.stringContaining('KGWALK_HOME') });
    expect(findings['disk home']!.detail).toMatch(/^cannot be written: .*ENOTDIR/);
  });
});
