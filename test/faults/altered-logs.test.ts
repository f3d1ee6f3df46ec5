/** Logs torn by a crash or altered by hand: a torn tail is cut and reported, anything else is refused. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openCompletionStore } from '../../src/llm/client/completion-store.js';
import { openJsonLines } from '../../src/run/json-lines.js';
import { Rng } from '../../src/run/seeds.js';
import { often, tally } from '../fixtures/long-tests.js';
import { folderWith } from '../fixtures/tiny-release.js';

const rng = new Rng(5);
const times = often(60, 20_000);
const altered = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes);
  copy[rng.integer(copy.length)]! ^= 1 + rng.integer(255);
  return copy;
};

test('a metric log with one changed byte before the checkpoint’s mark is refused; one cut anywhere after it is not', () => {
  const file = join(folderWith({}), 'metrics.jsonl');
  const log = openJsonLines(file);
  for (let step = 1; step <= 20; step++) log.append({ phase: 'ppo', step, metrics: { 'train/loss': rng.uniform() } });
  const mark = log.flush();
  for (let step = 21; step <= 30; step++) log.append({ phase: 'ppo', step, metrics: { 'train/loss': rng.uniform() } });
  log.close();
  const bytes = readFileSync(file);
  for (let i = 0; i < times; i++) {
    const kept = bytes.subarray(0, mark.bytes);
    writeFileSync(file, Buffer.concat([altered(kept), bytes.subarray(mark.bytes)]));
    const again = openJsonLines(file);
    expect(() => again.truncateAfter(mark)).toThrow(file);
    again.close();
    writeFileSync(file, bytes.subarray(0, mark.bytes + rng.integer(bytes.length - mark.bytes)));
    const cut = openJsonLines(file);
    cut.truncateAfter(mark);
    cut.close();
    expect(readFileSync(file).equals(kept)).toBe(true);
  }
  tally('faults injected', 2 * times);
});

test('completions with one changed byte: the line is named, or, where it is the last one, cut off and counted', () => {
  const file = join(folderWith({}), 'completions.jsonl');
  const store = openCompletionStore(file);
  const usage = { promptTokens: 9, cachedTokens: 0, completionTokens: 2 };
  for (let i = 0; i < 20; i++) {
    const about = { questionId: `q${i}`, phase: 'answer' };
    store.addCompletion(`key ${i}`, { system: 's', head: `h${i % 3}` }, about, {
      text: `reply ${i}`,
      stop: 'end',
      ...usage,
    });
  }
  store.close();
  const bytes = readFileSync(file);
  const last = bytes.lastIndexOf(0x0a, bytes.length - 2) + 1;
  let [refused, cut] = [0, 0];
  for (let i = 0; i < times; i++) {
    writeFileSync(file, altered(bytes));
    try {
      const again = openCompletionStore(file);
      again.close();
      // Without the newline before it, the last line takes the one before with it.
      expect(again.truncatedBytes).toBeGreaterThanOrEqual(bytes.length - last);
      expect([18, 19]).toContain(again.size);
      cut++;
    } catch (error) {
      expect(error).toMatchObject({ code: 'data', message: expect.stringContaining(`${file}:`) });
      refused++;
    }
  }
  expect(Math.min(refused, cut)).toBeGreaterThan(0);
  tally('faults injected', times);
});
