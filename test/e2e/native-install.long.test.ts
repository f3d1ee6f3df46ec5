/** `kgwalk native install` on the built program, with a real wheel where one is available. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { arch, env, execPath, platform } from 'node:process';
import { expect, test } from '@jest/globals';
import type { Finding } from '../../cli/diagnosis.js';
import { often } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';

useOwnHome();

function kgwalk(words: string[], variables: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(execPath, ['dist/cli/main.js', ...words], {
    env: { ...env, ...variables },
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

const native = () => join(env.KGWALK_HOME!, 'native');
const isLinux = platform === 'linux' && ['x64', 'arm64'].includes(arch);
const onLinux = isLinux ? test : test.skip;
if (!isLinux) console.warn(`skipped: the native part is built on Linux, not on ${platform}-${arch}`);

onLinux('names all tools that are missing, before anything is made', () => {
  const tools = folderWith({});
  symlinkSync(execPath, join(tools, 'node'));
  const { status, err } = kgwalk(['native', 'install', '--wheel', 'none.whl'], { PATH: tools });
  expect(status).toBe(4);
  expect(err).toMatch(/missing: a C\+\+ compiler, g\+\+ .*; unzip .*; the file .*none\.whl/);
  expect(kgwalk(['native', 'install'], { PATH: tools }).err).toContain('pip for python3, or --wheel FILE');
  expect(readdirSync(env.KGWALK_HOME!)).toEqual([]);
});

onLinux('a file that is no wheel changes nothing', () => {
  mkdirSync(native());
  writeFileSync(join(native(), 'tfjs_binding.node'), '');
  const wheel = join(folderWith({ 'no.whl': 'no archive' }), 'no.whl');
  const { status, err } = kgwalk(['native', 'install', '--wheel', wheel]);
  expect(status).toBe(4);
  expect(err).toContain(`expected unpacking ${wheel} to succeed`);
  expect(readdirSync(env.KGWALK_HOME!)).toEqual(['native']);
  expect(readdirSync(native())).toEqual(['tfjs_binding.node']);
});

test('a folder of other files is neither replaced nor removed', () => {
  const folder = folderWith({ 'letters.txt': 'dear' });
  for (const words of [['install', '--wheel', 'x.whl'], ['remove']]) {
    const { status, err } = kgwalk(['native', ...words], { KGWALK_NATIVE: folder });
    expect([status, err]).toEqual([2, expect.stringContaining(`got other files, at ${folder}`)]);
  }
  expect(readdirSync(folder)).toEqual(['letters.txt']);
});

// It downloads 220 MB: npm run test:long -- test/e2e/native-install
const onLong = often(0, 1) ? onLinux : test.skip;
onLong('builds, computes, and is removed again', () => {
  const { status, out, err } = kgwalk(['native', 'install']);
  if (/missing: |expected downloading/.test(err)) return console.warn(`skipped: building the native part; ${err}`);
  expect({ status, err }).toEqual({ status: 0, err: expect.stringMatching(/unpacking .*\nbuilding\nchecking\n$/) });
  expect(out).toMatch(/^tensorflow: TensorFlow 2\.\d+\.\d+ on the processor, trains a small net correctly, at /);
  expect(readdirSync(native()).sort()).toEqual(['tensorflow', 'tfjs_binding.node']);
  const findings = JSON.parse(kgwalk(['doctor', '--json']).out) as Finding[];
  expect(findings.find(({ part }) => part === 'backend tensorflow')?.status).toBe('ok');
  expect(kgwalk(['native', 'remove']).out).toBe(`removed ${native()}\n`);
  expect(existsSync(native())).toBe(false);
  expect(kgwalk(['native', 'remove']).out).toBe(`nothing to remove at ${native()}\n`);
});
