import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import type { Decision } from '../../../src/llm/decision.js';
import type { CompletionRequest, LanguageModel } from '../../../src/llm/language-model.js';
import { openLlamaModel } from '../../../src/llm/llama-model.js';
import { Rng } from '../../../src/run/seeds.js';
import { tinyGguf } from '../../fixtures/tiny-gguf.js';
import { folderWith } from '../../fixtures/tiny-release.js';

const models = join(env.KGWALK_TEST_DATA ?? 'nowhere', 'models');
const stories = join(models, 'stories260K.f32.gguf');
const smol = join(models, 'SmolLM2-135M-Instruct.Q4_1.gguf');
const minilm = join(models, 'all-MiniLM-L6-v2.Q8_0.gguf');
if (!existsSync(stories)) {
  stderr.write('skipped: local language models (set KGWALK_TEST_DATA to the folder that holds models/)\n');
}

const heads = ['Once upon a time there was a fox. ', 'The sun was hot. ', 'Lily had a red ball. '];

function request(change: Partial<CompletionRequest> = {}): CompletionRequest {
  return {
    system: 'You tell stories.',
    head: heads[0]!,
    body: 'One day',
    maxTokens: 12,
    temperature: 0,
    seed: 1,
    attempt: 0,
    decision: undefined as unknown as Decision,
    ...change,
  };
}

const anyOf = (texts: string[]) => texts.map((text) => JSON.stringify(JSON.stringify(text))).join(' | ');
const names = {
  jsonSchema: { type: 'array', items: { enum: ['film', 'actor', 'né "x"'] }, minItems: 1, maxItems: 3 },
  gbnf: `root ::= "[" name ("," " "? name){0,2} "]"\nname ::= ${anyOf(['film', 'actor', 'né "x"'])}`,
};

(existsSync(stories) ? describe : describe.skip)('a local model', () => {
  let model: LanguageModel;
  const text = async (change?: Partial<CompletionRequest>) => (await model.complete(request(change))).text;

  beforeAll(async () => {
    model = await openLlamaModel(stories, { heads: 2 });
  });
  afterAll(() => model.dispose());

  test('says what it is', () => {
    expect(model).toMatchObject({ simulated: false, constrained: true, contextLength: 512, concurrency: 1 });
    expect(model.name).toBe('stories260K.f32.gguf');
    expect(model.id).toMatch(/^gguf:[0-9a-f]{64}:plain:context-512:exact:cpu-1:node-llama-cpp@3\./);
    expect(model.note).toMatch(/no chat template/);
  });

  test('writes a text of at most maxTokens', async () => {
    const first = await model.complete(request());
    expect(first).toMatchObject({ completionTokens: 12, stop: 'length' });
    expect(first.text.length).toBeGreaterThan(10);
  });

  test('counts as cached what it holds: the head, from its second use on, while there is room', async () => {
    const counts: number[] = [];
    for (const head of [0, 0, 1, 0, 2, 1]) {
      const { cachedTokens, promptTokens } = await model.complete(
        request({ head: `Again. ${heads[head]}`, maxTokens: 1 }),
      );
      counts.push(cachedTokens / promptTokens);
    }
    // Two heads fit: the third pushes out the second, which was used longer ago than the first.
    expect(counts.map((share) => share > 0)).toEqual([false, true, false, true, false, false]);
    expect(counts[1]).toBeGreaterThan(0.6);
  });

  test('counts prompt tokens as system, head, body and layout', async () => {
    const { promptTokens } = await model.complete(request({ maxTokens: 1 }));
    const parts = ['You tell stories.', heads[0]!, 'One day', '\n\n', '\n\nReply:\n'];
    const apart = parts.reduce((sum, part) => sum + model.countTokens(part), 0);
    expect(Math.abs(promptTokens - apart)).toBeLessThanOrEqual(parts.length);
  });

  test('a completion depends on the request alone, not on earlier requests', async () => {
    const requests = heads.flatMap((head) =>
      ['One day', `${'He ran and ran. '.repeat(12)}Then`].flatMap((body) => [
        request({ head, body }),
        request({ head, body, temperature: 1.5, seed: 7 }),
        request({ head, body, format: names }),
      ]),
    );
    const ask = async (one: CompletionRequest) => (await model.complete(one)).text;
    const inOrder: string[] = [];
    for (const one of requests) inOrder.push(await ask(one));
    const order = Rng.named(3, 'history').shuffle(requests.map((_, index) => index));
    for (const index of order) expect(await ask(requests[index]!)).toEqual(inOrder[index]);

    const fresh = await openLlamaModel(stories, { heads: 1 });
    const alone = requests[order[0]!]!;
    expect((await fresh.complete(alone)).text).toBe(inOrder[order[0]!]);
    await fresh.dispose();
  });

  test('requests at the same time give what they give one after the other', async () => {
    const alone = [await text(), await text({ head: heads[1]! }), await text({ body: 'A bird' })];
    expect(await Promise.all([text(), text({ head: heads[1]! }), text({ body: 'A bird' })])).toEqual(alone);
  });

  test('side by side, several sequences serve requests at once', async () => {
    const wide = await openLlamaModel(stories, { heads: 2, sequences: 3 });
    expect(wide).toMatchObject({ concurrency: 3, id: expect.stringContaining('side-by-side-3') });
    const requests = heads.flatMap((head) =>
      ['One day', 'She said'].map((body) => request({ head, body, format: names, maxTokens: 60 })),
    );
    const written = await Promise.all(requests.map((one) => wide.complete(one)));
    for (const { text } of written) expect(JSON.parse(text).length).toBeLessThanOrEqual(3);
    await wide.dispose();
  });

  test('after prime, token counts continue unchanged', async () => {
    const asked = [0, 1, 0, 2].map((head) => request({ head: `P. ${heads[head]}`, maxTokens: 1 }));
    for (const one of asked) await model.complete(one);
    const next = [1, 0, 2].map((head) => request({ head: `P. ${heads[head]}`, maxTokens: 1 }));
    const counts = async (one: LanguageModel) => {
      const cached: number[] = [];
      for (const request of next) cached.push((await one.complete(request)).cachedTokens);
      return cached;
    };
    const resumed = await openLlamaModel(stories, { heads: 2 });
    await resumed.prime!(asked);
    expect(await counts(resumed)).toEqual(await counts(model));
    await resumed.dispose();
  });

  test('a seed decides what is drawn', async () => {
    const drawn = [1, 1, 2, -5].map((seed) => text({ temperature: 2, seed }));
    const [a, b, c, d] = await Promise.all(drawn);
    expect(a).toBe(b);
    expect(new Set([a, c, d]).size).toBe(3);
  });

  test('sampling is part of its name and id, and a nucleus of the likeliest token alone draws that', async () => {
    const narrow = await openLlamaModel(stories, { temperature: 2, topP: 1e-6, repeats: 3 });
    expect(narrow).toMatchObject({ temperature: 2, repeats: 3 });
    expect(narrow.name).toBe('stories260K.f32.gguf (temperature-2, top-p-0.000001)');
    expect(narrow.id).toContain(':cpu-1:temperature-2:top-p-0.000001:node-llama-cpp@');
    expect((await narrow.complete(request({ temperature: 2, seed: 5 }))).text).toBe(await text());
    expect(await text({ temperature: 2, seed: 5 })).not.toBe(await text());
    await narrow.dispose();
  });

  test('replies bound to a schema always parse and name only what was offered', async () => {
    for (let seed = 0; seed < 15; seed++) {
      const reply = JSON.parse(await text({ format: names, temperature: 3, seed, maxTokens: 60 })) as string[];
      expect(['film', 'actor', 'né "x"']).toEqual(expect.arrayContaining(reply));
      expect(reply.length).toBeGreaterThanOrEqual(1);
      expect(reply.length).toBeLessThanOrEqual(3);
    }
  });

  test('a GBNF grammar goes before the schema', async () => {
    const format = { ...names, gbnf: 'root ::= "directed by" (" > " "starred in")?' };
    for (let seed = 0; seed < 5; seed++) {
      expect(await text({ format, temperature: 2, seed, maxTokens: 40 })).toMatch(/^directed by( > starred in)?$/);
    }
  });

  test('stops when asked to, before and during the work, and serves the next request as ever', async () => {
    const expected = await text();
    await expect(model.complete(request({ signal: AbortSignal.abort() }))).rejects.toMatchObject({ code: 'stopped' });
    const stop = new AbortController();
    const long = model.complete(request({ head: 'New. ', maxTokens: 400, signal: stop.signal }));
    const queued = model.complete(request({ signal: stop.signal }));
    setImmediate(() => stop.abort());
    await expect(long).rejects.toMatchObject({ code: 'stopped' });
    await expect(queued).rejects.toMatchObject({ code: 'stopped' });
    expect(await text()).toBe(expected);
  });

  test('a prompt that does not fit says what is long', async () => {
    const long = model.complete(request({ body: 'word '.repeat(600) }));
    await expect(long).rejects.toMatchObject({
      code: 'data',
      message: expect.stringMatching(/within 512 tokens, got \d+ of the task .* [1-9]\d{2,} of question/),
      hint: expect.stringContaining('fewer'),
    });
    await expect(model.complete(request({ maxTokens: 600 }))).rejects.toMatchObject({ code: 'data' });
  });

  test('a reply may fill the context to its last token', async () => {
    const { promptTokens } = await model.complete(request({ maxTokens: 1 }));
    const format = { jsonSchema: {}, gbnf: 'root ::= [a-z ]*' };
    const full = await model.complete(request({ maxTokens: 512 - promptTokens, format, temperature: 1 }));
    expect(promptTokens + full.completionTokens).toBeLessThanOrEqual(512);
  });

  test('files that cannot write text are refused, with the reason', async () => {
    const folder = folderWith({});
    const file = (name: string, bytes: Buffer) => {
      writeFileSync(join(folder, name), bytes);
      return openLlamaModel(join(folder, name));
    };
    await expect(file('text.gguf', Buffer.from('hello'))).rejects.toThrow(/does not start with "GGUF"/);
    await expect(file('cut.gguf', readFileSync(stories).subarray(0, 900_000))).rejects.toThrow(/cut short/);
    await expect(file('bert.gguf', tinyGguf({}))).rejects.toThrow(/sentence encoder \(bert\)/);
    await expect(openLlamaModel(join(folder, 'none.gguf'))).rejects.toThrow(/got nothing/);
    await expect(openLlamaModel(minilm)).rejects.toThrow(/sentence encoder \(bert\)/);
    await expect(openLlamaModel(stories, { contextLength: 4096 })).rejects.toMatchObject({ code: 'config' });
  });
});

(existsSync(smol) ? describe : describe.skip)('SmolLM2 with its own template', () => {
  let model: LanguageModel;
  beforeAll(async () => {
    model = await openLlamaModel(smol, { heads: 2, contextLength: 512 });
  });
  afterAll(() => model.dispose());

  test('replies in the given format, from a cached head, independent of earlier requests', async () => {
    const relations = ['directed by', 'starred actors', 'release year'];
    const format = {
      jsonSchema: { type: 'object', properties: { choice: { enum: relations } }, additionalProperties: false },
      gbnf: `root ::= "{" ${JSON.stringify('"choice":')} " "? (${anyOf(relations)}) "}"`,
    };
    const ask = (question: string) =>
      model.complete(
        request({
          system: 'You choose relations of a film graph.',
          head: 'Choose the relation that answers the question. Reply as JSON: {"choice": "..."}\n\n',
          body: `Question: ${question}\nRelations: ${relations.join(', ')}`,
          format,
          maxTokens: 24,
        }),
      );
    const first = await ask('who directed Heat?');
    expect(first).toMatchObject({ cachedTokens: 0, stop: 'end' });
    expect(relations).toContain((JSON.parse(first.text) as { choice: string }).choice);
    const other = await ask('when did Alien come out?');
    expect(other.cachedTokens).toBeGreaterThan(25);
    expect(await ask('who directed Heat?')).toEqual({ ...first, cachedTokens: other.cachedTokens });
    expect(model.note).toBeUndefined();
  });

  test('ends a free reply at its own end token, and never shows it', async () => {
    // A question with a short answer: where an open one ends depends on how the processor rounds.
    const free = await model.complete(
      request({ system: '', head: 'What is the capital ', body: 'of France?', maxTokens: 80 }),
    );
    expect(free.stop).toBe('end');
    expect(free.text).not.toMatch(/<\|/);
  });
});

describe('scores of texts', () => {
  const withModel = existsSync(stories) ? test : test.skip;
  const asked = { head: 'Lily had a ball.', body: '\nThe ball was', decision: {} as Decision, meant: [] };

  withModel('texts score the same in any list, and shared beginnings are evaluated once', async () => {
    const model = await openLlamaModel(stories);
    const texts = [' red', ' red and big', ' red and blue', ' zyx'];
    const together = await model.scoreTexts!(asked, texts);
    for (const [i, text] of texts.entries()) {
      const alone = await model.scoreTexts!(asked, [text]);
      expect(together.logProbs[i]).toBeCloseTo(alone.logProbs[0]!, 3);
      expect(together.tokens[i]).toBe(alone.tokens[0]);
    }
    expect(together.logProbs[0]).toBeGreaterThan(together.logProbs[1]!);
    expect(together.logProbs[0]).toBeGreaterThan(together.logProbs[3]!);
    await model.dispose();
  });

  withModel('every text counts whole, and shared beginnings are reported as cached', async () => {
    const model = await openLlamaModel(stories);
    const alone = await model.scoreTexts!(asked, [' red and big']);
    const usage = async (...texts: string[]) => (await model.scoreTexts!(asked, texts)).usage;
    const [once, apart, alike] = [
      await usage(' red and big'),
      await usage(' red and big', ' zyx'),
      await usage(' red and big', ' red and blue'),
    ];
    const { tokens } = await model.scoreTexts!(asked, [' zyx', ' red and blue', ' red and']);
    expect(apart).toEqual({ ...once, promptTokens: once.promptTokens + tokens[0]! });
    expect(alike).toEqual({
      promptTokens: once.promptTokens + tokens[1]!,
      cachedTokens: once.cachedTokens + tokens[2]!,
      completionTokens: 0,
    });
    expect(alone.usage.promptTokens).toBe(once.promptTokens);
    await model.dispose();
  });
});
