import { execFileSync } from 'node:child_process';
import { execPath } from 'node:process';
import { expect, test } from '@jest/globals';

test('two threads of TransE stop with the same error as one', () => {
  const [one, two] = ['1', '2'].map((threads) =>
    execFileSync(execPath, ['test/fixtures/diverging-transe.mjs', threads], { encoding: 'utf8' }),
  );
  expect(one).toMatch(/^expected finite distances in float32, got NaN at index \d+, at transe epoch 1\n/);
  expect(two).toBe(one);
});
