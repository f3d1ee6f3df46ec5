import { expect, test } from '@jest/globals';
import { prefixesOf } from '../../../agents/link-walker/state-network.js';

const walk = (head: number, ...path: number[]) => ({ head, hop: path.length / 2, path: Int32Array.from(path) });

test('a beginning that walks share is one node', () => {
  const { levels, nodes } = prefixesOf(
    [walk(3), walk(3, 1, 5), walk(3, 1, 5, 0, 2), walk(3, 1, 6), walk(4, 1, 5), walk(3, 1, 5)],
    { numEntities: 9, noStep: 7 },
  );
  expect(levels.map(({ entities }) => [...entities])).toEqual([[3, 4], [5, 6, 5], [2]]);
  expect(levels.map(({ relations }) => [...relations])).toEqual([[7, 7], [1, 1, 1], [0]]);
  expect(levels.map(({ parents }) => [...parents])).toEqual([[], [0, 0, 1], [0]]);
  expect([...nodes]).toEqual([0, 2, 5, 3, 4, 2]);
});

test('walks that differ in a relation alone are two', () => {
  const { levels } = prefixesOf([walk(0, 1, 2), walk(0, 2, 2)], { numEntities: 3, noStep: 4 });
  expect(levels[1]!.entities).toHaveLength(2);
});
