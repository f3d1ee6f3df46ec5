import { expect, test } from '@jest/globals';
import { evenPieces, prefixOrder, reusableTokens } from '../../../src/encoder/prefix-context.js';
import { commonLength } from '../../../src/llm/llama/prefix-cache.js';
import { Rng } from '../../../src/run/seeds.js';

const rng = new Rng(3);
const inputs = Array.from({ length: 200 }, () => Array.from({ length: rng.integer(9) }, () => rng.integer(3)));

test('each text follows the one of which it shares most', () => {
  const order = prefixOrder(inputs);
  expect([...order].sort((a, b) => a - b)).toEqual([...inputs.keys()]);
  for (let i = 1; i < order.length; i++) {
    const input = inputs[order[i]!]!;
    const before = order.slice(0, i).map((index) => commonLength(inputs[index]!, input));
    expect(before.at(-1)).toBe(Math.max(...before));
    if (before.at(-1) === input.length && inputs[order[i - 1]!]!.length === input.length) {
      expect(order[i - 1]).toBeLessThan(order[i]!);
    }
  }
});

test.each([1, 2, 3, 7])('%i pieces hold the order, cut where the work is even', (count) => {
  const order = prefixOrder(inputs);
  const pieces = evenPieces(order, inputs, count);
  expect(pieces).toHaveLength(count);
  expect(pieces.flat()).toEqual(order);
  const work = pieces.map((piece) =>
    piece.reduce((sum, index, i) => {
      const shared = i === 0 ? 0 : commonLength(inputs[piece[i - 1]!]!, inputs[index]!);
      return sum + inputs[index]!.length - shared;
    }, 0),
  );
  expect(Math.max(...work) - Math.min(...work)).toBeLessThan(18);
});

test('pieces without work, and more pieces than texts', () => {
  expect(evenPieces([], [], 2)).toEqual([[], []]);
  expect(evenPieces([0], [[]], 2)).toEqual([[0], []]);
  expect(evenPieces([0, 1], [[1], [2]], 5).flat()).toEqual([0, 1]);
});

test('whole blocks are reused, and never all of a text', () => {
  const text = Array.from({ length: 40 }, (_, i) => i);
  expect(reusableTokens([], text)).toBe(0);
  expect(reusableTokens(text.slice(0, 15), text)).toBe(0);
  expect(reusableTokens(text.slice(0, 16), text)).toBe(16);
  expect(reusableTokens([...text.slice(0, 33), 99], text)).toBe(32);
  expect(reusableTokens(text, text.slice(0, 32))).toBe(16);
  expect(reusableTokens(text, text)).toBe(32);
  expect(reusableTokens(text, [0])).toBe(0);
});
