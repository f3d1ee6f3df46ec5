import { arch, platform } from 'node:process';
import { expect, test } from '@jest/globals';
import {
  collectEnvironment,
  kgwalkVersion,
  missingBinaries,
  nodeSupport,
  packageVersion,
} from '../../../src/run/environment.js';
import { folderWith } from '../../fixtures/tiny-release.js';

test('the record names versions, machine, backend, hashes and the command', () => {
  const record = collectEnvironment({
    configHash: 'c0ffee',
    backend: 'wasm',
    threads: 2,
    hashes: { graph: 'ab' },
    argv: ['train', 'opendialkg'],
    started: new Date(0),
  });
  expect(record).toMatchObject({
    schemaVersion: 1,
    started: '1970-01-01T00:00:00.000Z',
    argv: ['train', 'opendialkg'],
    backend: 'wasm',
    threads: 2,
    configHash: 'c0ffee',
    hashes: { graph: 'ab' },
  });
  expect(record.versions).toMatchObject({ kgwalk: kgwalkVersion(), node: process.versions.node });
  expect(record.versions['@tensorflow/tfjs-core']).toMatch(/^\d+\.\d+\.\d+/);
  expect(packageVersion('no-such-package-here')).toBeUndefined();
  expect(record.cores).toBeGreaterThan(0);
});

test('the command is kept without the secrets in it', () => {
  const argv = ['train', '--model', 'https://ada:secret@host/m.gguf?token=secret', '--api-key=secret'];
  const record = collectEnvironment({ configHash: 'c0ffee', argv });
  expect(record.argv).toEqual(['train', '--model', 'https://***@host/m.gguf?token=***', '--api-key=***']);
});

test('the package says which versions of Node it is for', () => {
  expect(nodeSupport()).toEqual({ tooOld: false, supported: true, range: '22.12 to 26' });
  const supported = ['22.12.0', '23.0.0', '24.1.0', '26.21.0'];
  const others = ['18.20.0', '20.20.2', '22.11.0', '27.0.0'];
  expect([...supported, ...others].filter((version) => nodeSupport(version).supported)).toEqual(supported);
  expect(others.filter((version) => nodeSupport(version).tooOld)).toEqual(others.slice(0, 3));
});

test('compiled parts that are missing are named with their versions, for this system alone and without those for GPUs', () => {
  expect(missingBinaries('lmdb')).toEqual([]);
  const root = folderWith({
    'package.json': '{"name":"kgwalk"}',
    'node_modules/some/package.json': JSON.stringify({
      optionalDependencies: Object.fromEntries(
        ['linux-x64', 'linux-x64-cuda', 'mac-x64', 'win-x64', 'linux-arm64', 'mac-arm64-metal', 'win-arm64'].map(
          (system) => [`@some/${system}`, '1.2.3'],
        ),
      ),
    }),
  });
  const words: Partial<Record<NodeJS.Platform, string>> = { darwin: 'mac', win32: 'win' };
  const system = `${words[platform] ?? platform}-${arch}${platform === 'darwin' && arch === 'arm64' ? '-metal' : ''}`;
  expect(missingBinaries('some', root)).toEqual([`@some/${system}@1.2.3`]);
});
