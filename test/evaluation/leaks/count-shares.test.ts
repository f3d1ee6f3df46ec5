import { expect, test } from '@jest/globals';
import { countsByName, entityCounts, goldShareByCount, pairCounts } from '../../../evaluation/leaks/count-shares.js';
import { namedWalk, sampleOf, world } from '../../agents/baselines/toy-world.js';

const train = [
  sampleOf('a', namedWalk('Heat', 'starred', 'Pacino')),
  sampleOf('b', namedWalk('Ali', 'directed_by', 'Mann')),
  sampleOf('c', namedWalk('Heat', 'directed_by', 'Mann')),
];

test('the share of golds is counted over the edges of the starts', () => {
  // Edges of Heat: Mann (2), Pacino (1), De Niro (0), Drama (0).
  const valid = [sampleOf('v', namedWalk('Heat', 'directed_by', 'Mann'))];
  const { shares, monotone } = goldShareByCount(valid, world, entityCounts(train));
  expect(shares).toMatchObject([
    { count: 0, candidates: 2, goldShare: 0 },
    { count: 1, candidates: 1, goldShare: 0 },
    { count: 2, candidates: 1, goldShare: 1 },
  ]);
  expect(monotone).toBe(true);
  // Wilson's interval of 0 of 2: up to z² / (2 + z²).
  expect(shares[0]!.low).toBe(0);
  expect(shares[0]!.high).toBeCloseTo(1.959964 ** 2 / (2 + 1.959964 ** 2), 10);
});

test('a count that marks the answer by being zero is not monotone', () => {
  const sample = sampleOf('v', namedWalk('Heat', 'starred', 'De Niro'));
  expect(goldShareByCount([sample], world, entityCounts(train)).monotone).toBe(true); // one sample proves nothing
  expect(goldShareByCount(Array(10).fill(sample), world, entityCounts(train)).monotone).toBe(false);
});

test('every count that artifacts name is counted as they count', () => {
  const [heat, mann, pacino] = ['Heat', 'Mann', 'Pacino'].map((name) => world.entityId(name));
  const [directed, starred] = ['directed_by', 'starred'].map((name) => world.relationId(name));
  const two = [
    ...train,
    sampleOf('d', namedWalk('Ali', 'directed_by', 'Mann', '~directed_by', 'Heat', 'starred', 'Pacino')),
  ];
  const countOf = (name: string, tail: number, relation: number) => countsByName[name]!.of(two)(heat!, tail, relation);
  expect(Object.keys(countsByName)).toEqual(['entity', 'start and end', 'edge', 'first edge', 'head and relation']);
  expect(['edge', 'first edge', 'head and relation'].map((name) => countOf(name, pacino!, starred!))).toEqual([
    2, 1, 2,
  ]);
  expect(['edge', 'first edge', 'head and relation'].map((name) => countOf(name, mann!, directed!))).toEqual([1, 1, 1]);
  const unused = Object.keys(countsByName).map((name) =>
    countOf(name, world.entityId('Drama'), world.relationId('genre')),
  );
  expect(unused).toEqual([0, 0, 0, 0, 0]);
});

test('a count that edges of one relation share is looked at over relations', () => {
  // Relations of Heat: directed_by (1), starred (1, two edges), genre (0).
  const valid = [sampleOf('v', namedWalk('Heat', 'starred', 'De Niro'))];
  const { of, over } = countsByName['head and relation']!;
  expect(goldShareByCount(valid, world, of(train), 3, over).shares).toMatchObject([
    { count: 0, candidates: 1, goldShare: 0 },
    { count: 1, candidates: 2, goldShare: 0.5 },
  ]);
  const { low, high } = goldShareByCount(valid, world, of(train), 3, over).shares[1]!;
  // Wilson: 1.96 standard errors of the bound itself.
  expect(0.5 - low).toBeCloseTo(1.959964 * Math.sqrt((low * (1 - low)) / 2), 10);
  expect(high).toBeCloseTo(1 - low, 10);
});

test('golds of two hops, and those that the graph lacks, are not looked at', () => {
  const one = sampleOf('v', namedWalk('Heat', 'starred', 'De Niro'));
  const two = sampleOf('w', namedWalk('Ali', 'directed_by', 'Mann', '~directed_by', 'Heat'));
  const lacking = { ...one, gold: { ...one.gold, inGraph: false } };
  expect(goldShareByCount([two], world, entityCounts(train)).shares).toEqual([]);
  expect(goldShareByCount([lacking], world, entityCounts(train)).shares).toEqual([]);
});

test('pair counts separate starts', () => {
  const count = pairCounts(train);
  expect(count(world.entityId('Heat'), world.entityId('Mann'), 0)).toBe(1);
  expect(count(world.entityId('Pacino'), world.entityId('Mann'), 0)).toBe(0);
});
