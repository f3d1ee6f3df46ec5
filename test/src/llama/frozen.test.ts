import { beforeAll, describe, expect, test } from '@jest/globals';
import { forestOf } from '../../../src/llama/forest.js';
import { frozenLlama } from '../../../src/llama/frozen.js';
import { type LlamaFile, readLlama } from '../../../src/llama/read-llama.js';
import { openHere } from '../../fixtures/executors.js';
import { llamaForward } from '../../fixtures/llama-forward.js';
import { expectClose } from '../../fixtures/gradient-check.js';
import { type OpenedLlama, tinyLlama } from '../../fixtures/tiny-llama.js';

const segment = (parent: number, ...ids: number[]) => ({ ids: Int32Array.from(ids), parent });
const head = segment(-1, 5, 80, 17, 9, 30);
const [state, other] = [segment(0, 200, 41, 7), segment(0, 3)];

describe.each(await openHere())('states below the trained layers on %s', (_, executor) => {
  let opened: OpenedLlama;
  let file: LlamaFile;
  const expectSame = (actual: Float32Array[], expected: Float32Array[]) => {
    if (executor.rowsAreIndependent) expect(actual).toEqual(expected);
    else actual.forEach((states, i) => expectClose(states, expected[i]!, 1e-4));
  };
  beforeAll(async () => {
    opened = await tinyLlama();
    file = readLlama(opened.path);
  });

  test('before the first layer are rows of the table', async () => {
    const [states] = await frozenLlama(executor, file).states(forestOf([head]), 0, [0]);
    const table = opened.weights.get('token_embd.weight')!;
    expect([...states!]).toEqual([...head.ids].flatMap((id) => [...table.slice(id * 32, (id + 1) * 32)]));
  });

  test('after all layers, once normed, are those of plain loops', async () => {
    const [, states] = await frozenLlama(executor, file).states(forestOf([head, state]), 2, [0, 1]);
    const expected = llamaForward(file.config, opened.weights, [...head.ids, ...state.ids]).states.slice(-3);
    const gain = opened.weights.get('output_norm.weight')!;
    expected.forEach((row, i) => {
      const own = states!.slice(i * 32, (i + 1) * 32);
      const scale = 1 / Math.sqrt(own.reduce((sum, value) => sum + value * value, 0) / 32 + file.config.normEps);
      expectClose(
        own.map((value, j) => value * scale * gain[j]!),
        row,
        1e-4,
      );
    });
  });

  test('are the same with keys and values of what stands before, computed once', async () => {
    const frozen = frozenLlama(executor, file);
    const expected = await frozen.states(forestOf([head, state, other]), 2, [1, 2]);
    const keys = await frozen.keys(forestOf([head]), 2);
    expectSame(await frozen.states(forestOf([head, state, other], 1), 2, [1, 2], keys), expected);
    const both = await frozen.keys(forestOf([head, state]), 2);
    const longer = [head, state, segment(1, 60, 61)];
    expectSame(await frozen.states(forestOf(longer, 2), 2, [2], both), await frozen.states(forestOf(longer), 2, [2]));
  });

  test('are those of one call after the other where calls overlap', async () => {
    const frozen = frozenLlama(executor, file);
    const forests = [forestOf([head]), forestOf([{ ...head, ids: head.ids.toReversed() }])];
    const overlapping = await Promise.all(forests.map((forest) => frozen.states(forest, 2, [0])));
    for (const [i, forest] of forests.entries()) expectSame(overlapping[i]!, await frozen.states(forest, 2, [0]));
  });
});
