import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openCompletionStore } from '../../src/llm/client/completion-store.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { hostileBytes, spoiltJson } from '../fixtures/spoilt.js';

const { path } = hostileFile('completions.jsonl');
const head = { system: 'You walk.', head: 'Facts:' };
const completion = {
  text: '{"choice":1}',
  promptTokens: 9,
  cachedTokens: 0,
  completionTokens: 2,
  stop: 'end' as const,
};
{
  const store = openCompletionStore(path);
  store.describeModel({
    ...{ id: 'm', name: 'm', simulated: false, constrained: true, contextLength: 512, scoresChoices: false },
  });
  store.addCompletion('k', head, { questionId: '2-17', phase: 'explore' }, { ...completion, constrained: true });
  store.addFailure('f', { code: 'data', message: 'too long' });
  store.close();
}
const whole = readFileSync(path, 'utf8');
const lines = whole.split('\n').filter(Boolean);
const values = lines.map((line) => JSON.parse(line) as Record<string, unknown>);

/** A line with the checksum that fits what it says. */
function sealed(text: string): string {
  const rest = text.slice(1);
  return `{"sum":"${createHash('sha256').update(rest).digest('hex').slice(0, 16)}",${rest}`;
}

let opened: ReturnType<typeof openCompletionStore> | undefined;
afterAll(() => opened?.close());

function read(bytes: Buffer): unknown {
  opened?.close();
  opened = undefined;
  writeFileSync(path, bytes);
  opened = openCompletionStore(path, { readOnly: true });
  return [opened.completion('k'), opened.lastHeads(3), opened.failure('f'), opened.cut('c'), opened.model];
}

test('completions are read as they were written, or refused with file and line', async () => {
  const bare = values.map(({ sum: _sum, ...value }) => value);
  const altered = fc
    .tuple(spoiltJson(...bare), fc.nat(lines.length - 1))
    .map(([text, at]) => Buffer.from(`${lines.map((line, i) => (i === at ? sealed(text) : line)).join('\n')}\n`));
  const inputs = fc.oneof(hostileBytes(whole), { weight: 2, arbitrary: altered });
  const isSound = (result: unknown) => {
    const [found, heads] = result as [typeof completion | undefined, { system: string; head: string }[]];
    expect(['string', 'undefined']).toContain(typeof found?.text);
    expect(heads.every(({ system, head: text }) => typeof system === 'string' && typeof text === 'string')).toBe(true);
  };
  await withstands(inputs, read, { place: path, check: isSound });
});

test('a line without an end does not cost the square of its length, nor more than a bound', () => {
  writeFileSync(path, Buffer.alloc(18 * 2 ** 20, 'x'));
  expect(() => openCompletionStore(path, { readOnly: true })).toThrow(/expected lines of at most .* bytes.* at .*:1/);
});
