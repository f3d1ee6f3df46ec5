/** Tests run from TypeScript sources as ES modules; swc strips the types, `npm run typecheck` checks them. */
import { availableParallelism } from 'node:os';
import { env } from 'node:process';

export default {
  // Node keeps the modules of every test file that a process has run: processes that hold too many are replaced.
  maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
  workerIdleMemoryLimit: '1GB',
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/setup/prepare.mjs',
  globalTeardown: '<rootDir>/test/setup/remove-temporary-folder.mjs',
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  // No test is about time; the limit ends one that hangs, on the slowest machine.
  testTimeout: env.KGWALK_TEST_LONG === '1' ? 3_600_000 : 600_000,
};
