import { expect, test } from '@jest/globals';
import { listsOf } from '../../../../src/nn/webgpu/lists.js';
import { Rng } from '../../../../src/run/seeds.js';

const int = (...values: number[]) => Int32Array.from(values);

test('entries are listed by their row, in their order', () => {
  expect(listsOf(int(2, 0, 2, 5))).toEqual({
    ...{ rows: int(0, 2, 5), begins: int(0, 1, 3, 4), order: int(1, 0, 2, 3), count: 3, whole: true },
  });
  expect(listsOf(int(0, 0, 3))).toEqual({
    ...{ rows: int(0, 3), begins: int(0, 2, 3), order: undefined, count: 2, whole: true },
  });
  expect(listsOf(int())).toMatchObject({ count: 0, whole: true });
});

test.each([
  ['few rows', 7],
  ['many rows', 1_000_000],
])('every entry stands once, of %s', (_, rows) => {
  const rng = Rng.named(1, 'test/lists');
  const index = Int32Array.from({ length: 5000 }, () => rng.integer(rows));
  const lists = listsOf(index);
  expect(Int32Array.from(lists.order!).sort()).toEqual(Int32Array.from(index.keys()));
  for (let list = 0; list < lists.count; list++) {
    const own = lists.order!.subarray(lists.begins[list], lists.begins[list + 1]);
    expect(own.every((entry, i) => index[entry] === lists.rows[list] && (i === 0 || own[i - 1]! < entry))).toBe(true);
    expect(own.length).toBeGreaterThan(0);
  }
});

test('a row of many entries has several lists', () => {
  const { rows, begins, whole } = listsOf(new Int32Array(2500));
  expect({ rows, begins, whole }).toEqual({ rows: int(0, 0, 0), begins: int(0, 1024, 2048, 2500), whole: false });
});
