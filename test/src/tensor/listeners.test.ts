/** Effects of the WebAssembly backend on a program that uses the library. Reads `dist`: `npm test` builds it first. */
import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { describe, expect, test } from '@jest/globals';

const program = (code: string) =>
  spawnSync(execPath, ['--input-type=module', '-e', `import { openBackend } from 'kgwalk/tensor';\n${code}`], {
    encoding: 'utf8',
  });

describe('an opened backend', () => {
  test('leaves the listeners of the program’s errors as they were', () => {
    const { stdout, stderr } = program(`
      const mine = () => {};
      process.on('uncaughtException', mine);
      const count = () => ['uncaughtException', 'unhandledRejection'].map((event) => process.listeners(event).length);
      const before = count();
      const opening = openBackend('wasm');
      process.on('unhandledRejection', mine); // another listener while it opens
      await opening;
      console.log(JSON.stringify([before, count()]));
    `);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual([
      [1, 0],
      [1, 1],
    ]);
  });

  test.each([
    ['thrown', `setTimeout(() => { throw new Error('my own mistake'); });`],
    ['rejected', `Promise.reject(new Error('my own mistake'));`],
  ])('lets an error of the program’s own end it as itself: %s', (_, mistake) => {
    const { status, stderr } = program(`await openBackend('wasm');\n${mistake}`);
    expect(stderr).toContain('Error: my own mistake');
    expect(stderr).toContain('[eval1]:');
    expect(stderr).not.toContain('tf-backend-wasm');
    expect(status).toBe(1);
  });
});
