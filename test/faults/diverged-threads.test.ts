import { execFileSync } from 'node:child_process';
import { execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { tally } from '../fixtures/long-tests.js';

test('two threads of TransE stop at the batch at which one does, and leave the same weights', () => {
  const [one, two] = ['1', '2'].map((threads) => {
    const out = execFileSync(execPath, ['test/fixtures/diverging-transe.mjs', threads], { encoding: 'utf8' });
    return JSON.parse(out) as { told: { name: string; place: { triple: number } }; left: { table: string[] } };
  });
  expect(one!.told).toMatchObject({ name: 'Diverged', place: { epoch: 1 } });
  expect(one!.told.place.triple).toBeGreaterThan(8);
  expect(one!.left.table.filter((value) => !Number.isFinite(Number(value)))).toEqual(['Infinity']);
  expect(two).toEqual(one);
  tally('faults injected', 2);
});
