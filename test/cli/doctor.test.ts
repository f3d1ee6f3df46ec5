/** Runs the built program: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath, platform } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { folderWith } from '../fixtures/tiny-release.js';

const main = resolve('dist/cli/main.js');

/** What the doctor found, by part, run in a folder. */
function findingsIn(cwd: string, home: string): Record<string, { status: string; detail: string; remedy?: string }> {
  const variables = { ...env, KGWALK_HOME: home, KGWALK_RUNS: '' };
  const { status, stdout } = spawnSync(execPath, [main, 'doctor', '--json'], { cwd, env: variables, encoding: 'utf8' });
  expect(status).toBe(0);
  const findings = JSON.parse(stdout) as { part: string; status: string; detail: string }[];
  return Object.fromEntries(findings.map(({ part, ...finding }) => [part, finding]));
}

describe('the doctor', () => {
  test('names every rung of the backend ladder, finds one that always works, and leaves nothing behind', () => {
    const folder = folderWith({});
    const findings = findingsIn(folder, folder);
    const worksEverywhere = ['node', 'backend wasm', 'backend cpu', 'lmdb', 'chartjs-node-canvas', 'node-llama-cpp'];
    for (const part of [...worksEverywhere, 'disk home', 'disk runs']) expect(findings[part]!.status).toBe('ok');
    expect(Object.keys(findings)).toEqual(expect.arrayContaining(['machine', 'backend tensorflow', 'data']));
    expect(readdirSync(folder)).toEqual([]);
  });

  test('sees places that cannot be written, and says what to do', () => {
    const folder = folderWith({ runs: 'a file where the folder of runs should be', home: 'another' });
    const findings = findingsIn(folder, join(folder, 'home', 'kgwalk'));
    expect(findings['disk runs']).toMatchObject({ status: 'missing', remedy: expect.stringContaining('--run-dir') });
    expect(findings['disk home']).toMatchObject({ status: 'missing', remedy: expect.stringContaining('KGWALK_HOME') });
    expect(findings['disk home']!.detail).toMatch(/^cannot be written: .*ENOTDIR/);
  });

  // Rights do not stop the superuser; the kernel's own folder does.
  (platform === 'linux' && existsSync('/proc') ? test : test.skip)('sees a file system that takes no files', () => {
    expect(findingsIn('/proc', folderWith({}))['disk runs']!.status).toBe('missing');
  });
});
