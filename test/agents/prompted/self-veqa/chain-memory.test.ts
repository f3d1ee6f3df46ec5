import { expect, test } from '@jest/globals';
import { chainMemory, type MemoryEntry, trainEntries } from '../../../../agents/prompted/self-veqa/chain-memory.js';
import { textVectors } from '../../../../src/encoder/state-encoder.js';
import { hashedEncoder } from '../../../../src/encoder/hashed-encoder.js';
import { ask, chainOf, solved, townTask, train } from './town-asker.js';

const entry = (masked: string, ...chain: number[]): MemoryEntry => ({
  ...{ masked, chain },
  source: { kind: 'train', questionId: masked },
});
const memoryOf = (...entries: MemoryEntry[]) => chainMemory(textVectors(hashedEncoder(256)), entries);
const options = { shots: 8, shotsPerChain: 2, shotDiversity: 0.3 };
const repaired = chainOf('~purchased_by', 'repaired_by');

test('examples are of the same length, nearest first, at most two of one chain', async () => {
  const memory = memoryOf(
    entry('who repaired the clocks of [E]', 1, 2),
    entry('who repaired the old clocks of [E]', 1, 2),
    entry('who repaired the new clocks of [E]', 1, 2),
    entry('where stand the clocks of [E]', 1, 3),
    entry('where lives [E]', 4),
  );
  const chosen = await memory.select('who repaired the clocks of [E]', { ...options, hops: 2 });
  expect(chosen[0]!.masked).toBe('who repaired the clocks of [E]');
  expect(chosen.map(({ chain }) => chain.join())).toEqual(['1,2', '1,2', '1,3']);
  expect(await memory.select('who repaired the clocks of [E]', { ...options, shots: 0 })).toEqual([]);
  expect(await memory.select('any', options)).toHaveLength(4);
});

test('diversity prefers what is unlike the examples already chosen', async () => {
  const memory = memoryOf(
    entry('who repaired the clocks of [E] today', 1, 2),
    entry('who repaired the clocks of [E] now', 1, 2),
    entry('who repaired something', 1, 3),
  );
  const chosen = async (shotDiversity: number) =>
    (await memory.select('who repaired the clocks of [E]', { ...options, shots: 2, shotDiversity })).map(
      ({ chain }) => chain[1],
    );
  expect(await chosen(0)).toEqual([2, 2]);
  expect(await chosen(0.9)).toEqual([2, 3]);
});

test('what is known is not stored again; one question may have two chains', () => {
  const memory = memoryOf(entry('who [E]', 1), entry('who [E]', 1), entry('who [E]', 2));
  expect(memory.entries).toHaveLength(2);
  expect(memory.add(entry('who [E]', 2))).toBe(false);
  expect(memory.add(entry('who [E]', 3))).toBe(true);
});

test('train is masked, and may be bounded for every chain by a seeded draw', () => {
  expect(trainEntries(train, 0, 1).map(({ masked }) => masked)).toContain('who repaired the clocks that [E] bought');
  const many = Array.from({ length: 40 }, (_, i) => solved(`t-${i}`, `who fixed ${i} clocks`, 'clocks', repaired));
  const drawn = trainEntries(many, 5, 1);
  expect(drawn).toHaveLength(5);
  expect(trainEntries(many, 5, 1)).toEqual(drawn);
  expect(trainEntries(many, 5, 2)).not.toEqual(drawn);
});

test('the prompt shows masked questions with their chains, the most similar last, so that a tight budget drops the others', async () => {
  const { proposals } = await ask({ rounds: [[repaired]] });
  const block = proposals[0]!.context!.find(({ role }) => role === 'history')!;
  expect(block.lines).toEqual([
    'where do the clocks stand that [E] bought = ~purchased_by → stands_in',
    'who repaired the clocks that [E] bought = ~purchased_by → repaired_by',
  ]);
  const off = await ask({ rounds: [[repaired]] }, { memory: 'off' });
  expect(off.proposals[0]!.context!.some(({ role }) => role === 'history')).toBe(false);
});

test('online memory serves the next question, frozen memory does not', async () => {
  const shown = async (memory: string) => {
    const mended = { question: 'who mended the clocks', topics: [{ ...townTask.topics[0]!, span: undefined! }] };
    const first = await ask({ rounds: [[repaired]] }, { memory, task: { ...mended, id: 'first' } });
    const { proposals } = await ask(
      { rounds: [[repaired]] },
      { agent: first.agent, task: { ...mended, id: 'second' } },
    );
    return proposals[0]!.context!.find(({ role }) => role === 'history')!.lines;
  };
  expect((await shown('online')).at(-1)).toBe('who mended the clocks = ~purchased_by → repaired_by');
  expect(await shown('frozen')).toHaveLength(2);
});
