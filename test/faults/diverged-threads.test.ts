import { execFileSync } from 'node:child_process';
import { execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { tally } from '../fixtures/long-tests.js';

test('two threads of TransE stop at the same batch as one, before any weight follows it', () => {
  const [one, two] = ['1', '2'].map((threads) => {
    const out = execFileSync(execPath, ['test/fixtures/diverging-transe.mjs', threads], { encoding: 'utf8' });
    return JSON.parse(out) as { told: { name: string; place: { triple: number } } };
  });
  const first = { tensor: 'entities', index: 2000 * 6 - 1, value: 'Infinity' };
  expect(one!.told).toMatchObject({ name: 'Diverged', place: { epoch: 1 }, first });
  expect(one!.told.place.triple).toBeGreaterThan(8);
  expect(two).toEqual(one);
  tally('faults injected', 2);
});
