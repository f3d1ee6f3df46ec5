import { describe, expect, test } from '@jest/globals';
import {
  box,
  dict,
  discrete,
  idPairs,
  ids,
  multiBinary,
  oneOf,
  relationIds,
  sequence,
  text,
  vector,
} from '../../envs/spaces.js';
import { Rng } from '../../src/run/seeds.js';

describe('spaces', () => {
  test('a masked draw takes legal actions only, each of them', () => {
    const rng = new Rng(3);
    const mask = Uint8Array.of(0, 1, 0, 1, 1);
    const drawn = new Set(Array.from({ length: 200 }, () => discrete(9).sample(rng, mask)));
    expect([...drawn].sort()).toEqual([1, 3, 4]);
    expect(() => discrete(2).sample(rng, Uint8Array.of(0, 0))).toThrow('at least one legal action');
  });

  test('contains what it draws, and equal seeds draw equally', () => {
    const space = dict({
      n: discrete(5, -1),
      mask: multiBinary(6),
      list: ids(4, 3),
      path: idPairs(2, 5, 3),
      name: text(),
      who: oneOf('user', 'assistant'),
      items: sequence(discrete(3)),
      box: box([-1, -Infinity, 0, -Infinity], [1, Infinity, Infinity, 0.1]),
      vector: vector(3),
    });
    for (let seed = 0; seed < 50; seed++) {
      const drawn = space.sample(new Rng(seed));
      expect(space.contains(drawn)).toBe(true);
      expect(space.sample(new Rng(seed))).toEqual(drawn);
    }
  });

  test('a form says in plain values what the space holds; fields that only this program can read are left out', () => {
    const space = dict({
      n: discrete(5, -1),
      list: ids(4, 3),
      name: text(),
      items: sequence(discrete(3)),
      at: vector(2),
      within: box([-1, -Infinity], [0.5, Infinity]),
    });
    expect(JSON.parse(JSON.stringify(space.form))).toEqual({
      kind: 'dict',
      fields: {
        n: { kind: 'discrete', n: 5, first: -1 },
        list: { kind: 'list', dtype: 'int32', maxLength: 3, low: 0, high: 3 },
        name: { kind: 'text' },
        at: { kind: 'vector', length: 2 },
        within: { kind: 'vector', length: 2, low: [-1, null], high: [0.5, null] },
      },
    });
    expect(relationIds(65_537, 2).form).toMatchObject({ dtype: 'int32' });
    expect(relationIds(65_536, 2).form).toMatchObject({ dtype: 'uint16' });
  });

  test('refuses what lies outside', () => {
    expect(discrete(3).contains(3)).toBe(false);
    expect(discrete(3).contains(0.5)).toBe(false);
    expect(discrete(3, -1).contains(-1)).toBe(true);
    expect(multiBinary(2).contains(Uint8Array.of(0, 2))).toBe(false);
    expect(ids(3, 2).contains(Int32Array.of(0, 1, 2))).toBe(false);
    expect(idPairs(2, 4, 2).contains(Int32Array.of(1, 3))).toBe(true);
    expect(idPairs(2, 4, 2).contains(Int32Array.of(2, 3))).toBe(false);
    expect(idPairs(2, 4, 2).contains(Int32Array.of(1, 3, 1))).toBe(false);
    const bounded = box([0, -Infinity], [0.1, 5]);
    expect(bounded.contains(Float32Array.of(0.1, -1e9))).toBe(true);
    expect(bounded.contains(Float32Array.of(0.2, 0))).toBe(false);
    expect(bounded.contains(Float32Array.of(0, -Infinity))).toBe(false);
    expect(bounded.contains(Float32Array.of(NaN, 0))).toBe(false);
    expect(bounded.contains(Float32Array.of(0))).toBe(false);
    expect(bounded.contains([0, 0])).toBe(false);
    expect(() => box([0, 0], [1])).toThrow('as many lower as upper bounds');
    expect(() => box([2], [1])).toThrow('none above its own');
    expect(dict({ a: text() }).contains({ a: 'x', b: 1 })).toBe(false);
    expect(sequence(text()).contains(['a', 1])).toBe(false);
  });
});
