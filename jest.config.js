/** Tests run from TypeScript sources as ES modules; swc strips the types, `npm run typecheck` checks them. */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { env } from 'node:process';

const others = ['dist', 'docs', 'node_modules', 'runs', 'shims'];
const code = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !others.includes(entry.name))
  .map(({ name }) => name);

export default {
  // Node keeps the modules of every test file that a process has run: processes that hold too many are replaced.
  maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
  workerIdleMemoryLimit: '1GB',
  testEnvironment: 'node',
  // The code beside the tests, too: `npm run test:changed -- --related` follows its imports.
  roots: code.map((folder) => `<rootDir>/${folder}`),
  globalSetup: '<rootDir>/test/setup/prepare.mjs',
  setupFiles: ['<rootDir>/test/setup/own-runs.mjs'],
  globalTeardown: '<rootDir>/test/setup/remove-temporary-folder.mjs',
  testSequencer: '<rootDir>/test/setup/longest-first.mjs',
  testMatch: ['**/*.test.ts'],
  // `npm run test:long` runs the others.
  testPathIgnorePatterns: ['/node_modules/', ...(env.KGWALK_TEST_LONG ? [] : ['\\.long\\.test\\.ts$'])],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  // Source maps stand in files of their own: inline they were more than half of what every test file reads and parses.
  transform: {
    '^.+\\.ts$': [
      '<rootDir>/test/setup/transform.mjs',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' }, sourceMaps: true },
    ],
  },
  // No test is about time; the limit ends one that hangs, on the slowest machine.
  testTimeout: env.KGWALK_TEST_LONG === '1' ? 3_600_000 : 600_000,
};
