import { expect, test } from '@jest/globals';
import { entityCounts, goldShareByCount, pairCounts } from '../../evaluation/leak-check.js';
import { namedWalk, sampleOf, world } from '../agents/baselines/toy-world.js';

const train = [
  sampleOf('a', namedWalk('Heat', 'starred', 'Pacino')),
  sampleOf('b', namedWalk('Ali', 'directed_by', 'Mann')),
  sampleOf('c', namedWalk('Heat', 'directed_by', 'Mann')),
];

test('the share of golds is counted over the edges of the starts', () => {
  // Edges of Heat: Mann (2), Pacino (1), De Niro (0), Drama (0).
  const valid = [sampleOf('v', namedWalk('Heat', 'directed_by', 'Mann'))];
  expect(goldShareByCount(valid, world, entityCounts(train))).toEqual({
    shares: [
      { count: 0, candidates: 2, goldShare: 0 },
      { count: 1, candidates: 1, goldShare: 0 },
      { count: 2, candidates: 1, goldShare: 1 },
    ],
    monotone: true,
  });
});

test('a count that marks the answer by being zero is not monotone', () => {
  const sample = sampleOf('v', namedWalk('Heat', 'starred', 'De Niro'));
  expect(goldShareByCount([sample], world, entityCounts(train)).monotone).toBe(true); // one sample proves nothing
  expect(goldShareByCount(Array(10).fill(sample), world, entityCounts(train)).monotone).toBe(false);
});

test('pair counts tell starts apart', () => {
  const count = pairCounts(train);
  expect(count(world.entityId('Heat'), world.entityId('Mann'))).toBe(1);
  expect(count(world.entityId('Pacino'), world.entityId('Mann'))).toBe(0);
});
