/** Effects of the WebAssembly backend on a program that uses the library. Reads `dist`: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { longTest } from '../../fixtures/long-tests.js';

const program = (code: string) =>
  spawnSync(execPath, ['--input-type=module', '-e', `import { openExecutor } from 'kgwalk/nn';\n${code}`], {
    encoding: 'utf8',
  });

const ownError = (stderr: string) => {
  expect(stderr).toContain('Error: my own mistake');
  expect(stderr).toContain('[eval1]:');
  expect(stderr).not.toContain('tf-backend-wasm');
};

test('an opened backend leaves the listeners of errors as they were, and an error that is thrown ends the program as itself', () => {
  const { status, stdout, stderr } = program(`
    const mine = () => {};
    process.on('uncaughtException', mine);
    const count = () => ['uncaughtException', 'unhandledRejection'].map((event) => process.listeners(event).length);
    const before = count();
    const opening = openExecutor('wasm');
    process.on('unhandledRejection', mine); // another listener while it opens
    await opening;
    console.log(JSON.stringify([before, count()]));
    process.off('uncaughtException', mine);
    setTimeout(() => { throw new Error('my own mistake'); });
  `);
  expect(JSON.parse(stdout)).toEqual([
    [1, 0],
    [1, 1],
  ]);
  ownError(stderr);
  expect(status).toBe(1);
});

longTest('so does one that is rejected', () => {
  const { status, stderr } = program(`await openExecutor('wasm');\nPromise.reject(new Error('my own mistake'));`);
  ownError(stderr);
  expect(status).toBe(1);
});
