import { expect, test } from '@jest/globals';
import { collectEnvironment, kgwalkVersion, nodeSupport, packageVersion } from '../../../src/run/environment.js';

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
  expect(record.cores).toBeGreaterThan(0);
});

test('the command is kept without the secrets in it', () => {
  const argv = ['train', '--model', 'https://ada:secret@host/m.gguf?token=secret', '--api-key=secret'];
  const record = collectEnvironment({ configHash: 'c0ffee', argv });
  expect(record.argv).toEqual(['train', '--model', 'https://***@host/m.gguf?token=***', '--api-key=***']);
});

test('a package that is not installed has no version', () => {
  expect(packageVersion('no-such-package-here')).toBeUndefined();
});

test('the package says which versions of Node it is for', () => {
  expect(nodeSupport()).toEqual({ supported: true, range: '20.19 to 24' });
  const supported = ['20.19.0', '21.0.0', '22.1.0', '24.21.0'];
  const others = ['18.20.0', '20.18.3', '25.0.0', '26.1.0'];
  expect([...supported, ...others].filter((version) => nodeSupport(version).supported)).toEqual(supported);
});
