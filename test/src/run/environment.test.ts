import { expect, test } from '@jest/globals';
import { collectEnvironment, kgwalkVersion, packageVersion } from '../../../src/run/environment.js';

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
  expect(record.versions['@tensorflow/tfjs']).toMatch(/^\d+\.\d+\.\d+/);
  expect(record.cores).toBeGreaterThan(0);
});

test('a package that is not installed has no version', () => {
  expect(packageVersion('no-such-package-here')).toBeUndefined();
});
