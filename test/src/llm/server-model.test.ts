import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Decision } from '../../../src/llm/decision.js';
import type { CompletionRequest, LanguageModel } from '../../../src/llm/language-model.js';
import { openServerModel, type ServerModelOptions } from '../../../src/llm/server-model.js';
import { answers, type ChatAnswer, type ChatServer, fails, says, useChatServers } from '../../fixtures/chat-server.js';

const key = 'sk-planted-0123456789';
const format = {
  jsonSchema: { type: 'object', properties: { choice: { enum: ['a', 'b'] } } },
  gbnf: String.raw`root ::= "{\"choice\":" ("\"a\"" | "\"b\"") "}"`,
};

let server: ChatServer;
const started = useChatServers();
let waits: number[] = [];
beforeEach(() => void (waits = []));

async function open(answers: ChatAnswer[], options: Partial<ServerModelOptions> = {}): Promise<LanguageModel> {
  server = await started(...answers);
  return openServerModel({
    baseUrl: server.url,
    model: 'tiny',
    env: { KGWALK_LLM_KEY: key },
    retries: 3,
    delay: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
    ...options,
  });
}

function request(change: Partial<CompletionRequest> = {}): CompletionRequest {
  return {
    system: 'You choose.',
    head: 'Choose one. ',
    body: 'a or b?',
    maxTokens: 20,
    temperature: 0,
    seed: 5,
    attempt: 0,
    decision: undefined as unknown as Decision,
    ...change,
  };
}

/** All but those by which a request waits for its end. */
const realTimers = ['Date', 'performance', 'setImmediate', 'setInterval', 'nextTick', 'queueMicrotask'] as const;

/** Waits until the server has been sent so many requests. */
async function asked(count: number): Promise<void> {
  while (server.calls.length < count) await turn();
}

const cut: ChatAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"id":"c","choices":[{"mess');
  setImmediate(() => response.destroy());
};
const reset: ChatAnswer = (response) => response.destroy();
const halfJson: ChatAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('{"id":"c","choices":[{"mess');
};
const silent: ChatAnswer = () => {};
const stalls: ChatAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"id":');
};

describe('a language-model server', () => {
  test('is sent the prompt, the limits and the schema, and its numbers are taken', async () => {
    const usage = { prompt_tokens: 30, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 16 } };
    const model = await open([says('{"choice":"a"}', { usage })]);
    expect(await model.complete(request({ format }))).toEqual({
      text: '{"choice":"a"}',
      constrained: true,
      promptTokens: 30,
      cachedTokens: 16,
      completionTokens: 4,
      stop: 'end',
    });
    expect(server.calls).toEqual([
      {
        url: '/v1/chat/completions',
        authorization: `Bearer ${key}`,
        body: {
          model: 'tiny',
          messages: [
            { role: 'system', content: 'You choose.' },
            { role: 'user', content: 'Choose one. a or b?' },
          ],
          temperature: 0,
          max_tokens: 20,
          seed: 5,
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'reply', strict: true, schema: format.jsonSchema },
          },
        },
      },
    ]);
    expect(model).toMatchObject({ constrained: true, simulated: false, concurrency: 4, contextLength: 8192 });
    expect(model.id).toBe(`server:${server.url}#tiny:context-8192`);
  });

  test('that does not count tokens is counted for, and the note names the tokenizer', async () => {
    const model = await open([says('one two, three')]);
    const { promptTokens, completionTokens, cachedTokens } = await model.complete(request());
    expect({ promptTokens, completionTokens, cachedTokens }).toEqual({
      promptTokens: model.countTokens('You choose.Choose one. a or b?'),
      // one, two, comma, thre, e
      completionTokens: 5,
      cachedTokens: 0,
    });
    expect(model.note).toMatch(/word-pieces-4/);
  });

  test.each([
    ['none without one', {}, undefined],
    ['KGWALK_LLM_KEY before OPENAI_API_KEY', { OPENAI_API_KEY: 'other', KGWALK_LLM_KEY: key }, `Bearer ${key}`],
  ])('is sent a key: %s', async (_, env: Record<string, string>, sent) => {
    await (await open([says('x')], { env })).complete(request());
    expect(server.calls[0]!.authorization).toBe(sent);
  });

  test('that cuts a reply at the limit says so', async () => {
    const choice = { index: 0, message: { role: 'assistant', content: 'and so' }, finish_reason: 'length' };
    const model = await open([says('', { choices: [choice] })]);
    expect(await model.complete(request())).toMatchObject({ text: 'and so', stop: 'length' });
  });
});

describe('a server that misbehaves', () => {
  test('429 is waited out for as long as it asks, in seconds or as a date', async () => {
    const date = { date: 'Sun, 06 Nov 2022 08:49:37 GMT', 'retry-after': 'Sun, 06 Nov 2022 08:50:20 GMT' };
    const model = await open([
      fails(429, 'slow down', { 'retry-after': '7' }),
      fails(429, 'slow down', date),
      says('ok'),
    ]);
    expect((await model.complete(request())).text).toBe('ok');
    expect(waits).toEqual([7000, 43_000]);
  });

  test.each([
    ['internal errors', fails(500, 'oops')],
    ['a cut body', cut],
    ['a reset connection', reset],
    ['half a JSON document', halfJson],
  ])('%s: tried again after growing waits, equal for equal seeds', async (_, failure) => {
    const answers = [failure, failure, failure, says('ok')];
    expect((await (await open(answers)).complete(request())).text).toBe('ok');
    const [first, second, third] = waits as [number, number, number];
    expect(first).toBeGreaterThanOrEqual(250);
    expect(first).toBeLessThanOrEqual(500);
    expect(second).toBeGreaterThanOrEqual(500);
    expect(third).toBeLessThanOrEqual(2000);
    const before = waits;
    await server.close();
    waits = [];
    await (await open(answers)).complete(request());
    expect(waits).toEqual(before);
  });

  test('one that stays away is given up after all tries, with what it said last', async () => {
    const model = await open([fails(503, 'overloaded')]);
    await expect(model.complete(request())).rejects.toMatchObject({
      code: 'failure',
      message: expect.stringMatching(/503 overloaded \(4 tries\), at http:\/\/127\.0\.0\.1:\d+\/v1#tiny/),
    });
    expect(server.calls).toHaveLength(4);
  });

  test.each([
    ['never answers', silent],
    ['stops in the middle', stalls],
  ])('one that %s is timed out and tried again', async (_, slow) => {
    // Time passes when the test says so: the second answer may come as late as it likes.
    jest.useFakeTimers({ doNotFake: [...realTimers] });
    try {
      const model = await open([slow, says('ok')], { timeoutMs: 60 });
      const completed = model.complete(request());
      await asked(1);
      jest.advanceTimersByTime(60);
      expect((await completed).text).toBe('ok');
      expect(waits).toHaveLength(1);
    } finally {
      jest.useRealTimers();
    }
  });

  test('one that knows no JSON schema is asked without from then on', async () => {
    const model = await open([
      fails(400, "'response_format' of type json_schema is not supported"),
      says('{"choice":"a"}'),
    ]);
    expect((await model.complete(request({ format }))).text).toBe('{"choice":"a"}');
    expect(model.constrained).toBe(false);
    await model.complete(request({ format }));
    expect(server.calls.map(({ body }) => 'response_format' in body)).toEqual([true, false, false]);
    expect(waits).toEqual([]);
  });

  test('one that wants max_completion_tokens or no seed gets its way', async () => {
    const renamed = fails(400, "'max_tokens' is not supported, use 'max_completion_tokens'");
    const model = await open([renamed, fails(400, 'unknown field: seed'), says('ok')]);
    expect((await model.complete(request())).text).toBe('ok');
    expect(server.calls.at(-1)!.body).toEqual(expect.not.objectContaining({ max_tokens: 20 }));
    expect(server.calls.at(-1)!.body).toMatchObject({ max_completion_tokens: 20 });
    expect(server.calls.at(-1)!.body).not.toHaveProperty('seed');
  });

  const unknownSeed = [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs', input: 'temperature' }];
  test.each<[string, number, unknown, string]>([
    ['in a list', 400, [{ error: { code: 400, message: 'Unknown name "seed"' } }], 'Unknown name "seed"'],
    ['without the field error', 400, { object: 'error', message: 'no seed here' }, 'no seed here'],
    ['as details with a place', 422, { detail: unknownSeed }, 'body.seed: Extra inputs'],
    ['as details in a message', 422, { message: { detail: unknownSeed } }, 'body.seed: Extra inputs'],
    ['as JSON in a message', 422, { message: JSON.stringify({ detail: unknownSeed }) }, 'body.seed: Extra inputs'],
    ['as a text', 400, { error: 'no seed here' }, 'no seed here'],
    ['as plain text', 400, 'no <b>seed</b> here', 'no seed here'],
    [
      'below another server’s',
      400,
      { error: { message: 'failed', metadata: { raw: '{"error":"seed?"}' } } },
      'failed; seed?',
    ],
    ['by its parameter', 400, { error: { message: 'not taken', param: 'seed' } }, 'seed: not taken'],
  ])(
    'an error %s is read: the seed is left out, and what is refused all the same is said',
    async (_, status, body, words) => {
      const model = await open([answers(status, body), says('ok'), answers(status, body)]);
      expect(await model.complete(request())).toMatchObject({ text: 'ok', remarks: ['without a seed'] });
      expect(server.calls.map(({ body: sent }) => 'seed' in sent)).toEqual([true, false]);
      await expect(model.complete(request())).rejects.toMatchObject({
        code: 'failure',
        message: expect.stringContaining(`${status} ${words}, at`),
      });
      const long = await open([answers(status, { detail: 'maximum context length is 2048 tokens' })]);
      await expect(long.complete(request())).rejects.toMatchObject({ code: 'data' });
    },
  );

  test.each<[string, ChatAnswer, (body: Record<string, unknown>) => unknown, unknown, string]>([
    [
      'temperature',
      fails(400, "'temperature' does not support 0 with this model. Only the default (1) value is supported."),
      ({ temperature }) => temperature,
      undefined,
      'without a temperature',
    ],
    ...['System role not supported', "'messages[0].role' does not support 'system' with this model."].map(
      (words): [string, ChatAnswer, (body: Record<string, unknown>) => unknown, unknown, string] => [
        words,
        answers(400, { object: 'error', message: words }),
        ({ messages }) => messages,
        [{ role: 'user', content: 'You choose.\n\nChoose one. a or b?' }],
        'without a system role',
      ],
    ),
    [
      'a template that fails in the server',
      fails(500, 'Jinja Exception: Conversation roles must alternate'),
      ({ messages }) => (messages as unknown[]).length,
      1,
      'without a system role',
    ],
  ])(
    'one that refuses a part is asked without from then on, which is said once: %s',
    async (_, refuses, part, left, remark) => {
      const lines: string[] = [];
      const model = await open([refuses, says('ok')], { note: (line) => lines.push(line) });
      for (let i = 0; i < 2; i++) expect((await model.complete(request())).remarks).toEqual([remark]);
      const sent = server.calls.map(({ body }) => part(body));
      expect(sent.slice(1)).toEqual([left, left]);
      expect(sent[0]).not.toEqual(left);
      expect(lines).toEqual([`${model.name}: asked ${remark}, which the server refuses`]);
      expect(waits).toEqual([]);
    },
  );

  test.each<[string, unknown, number]>([
    ['an error', { error: { message: 'rate limited', code: 429 } }, 4],
    ['an error as a text', { error: 'overloaded' }, 4],
    ['a list of errors', [{ error: { message: 'slow down', status: 'RESOURCE_EXHAUSTED' } }], 4],
    ['details alone', { detail: 'try later' }, 4],
    ['an error in a choice', { choices: [{ error: { code: 502, message: 'gone' }, message: { content: '' } }] }, 4],
    ['a key that is refused', { object: 'error', message: 'no key', code: 401 }, 1],
  ])('%s inside a 200 counts as its status', async (_, body, tries) => {
    const model = await open([answers(200, body)]);
    const code = tries > 1 ? 'failure' : 'config';
    await expect(model.complete(request())).rejects.toMatchObject({ code });
    expect(server.calls).toHaveLength(tries);
    const well = await open([answers(200, body), says('ok')]);
    if (tries > 1) expect((await well.complete(request())).text).toBe('ok');
  });

  const choice = (message: object, finish_reason: string) => answers(200, { choices: [{ message, finish_reason }] });
  const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'hmm' }] };
  test.each<[string, ChatAnswer, object]>([
    [
      'parts',
      choice({ content: [thought, { type: 'text', text: 'o' }, 'k'] }, 'stop'),
      { text: 'ok', remarks: undefined },
    ],
    [
      'thoughts alone',
      choice({ content: '', reasoning_content: 'Let me' }, 'length'),
      { text: '', stop: 'length', remarks: ['thinking'] },
    ],
    [
      'thoughts alone, ended',
      choice({ content: null, reasoning: 'Let me' }, 'stop'),
      { text: '', remarks: ['thinking'] },
    ],
    ['parts of thoughts alone', choice({ content: [thought] }, 'length'), { text: '', remarks: ['thinking'] }],
    ['open thoughts', choice({ content: '<think>I need' }, 'length'), { stop: 'length', remarks: ['thinking'] }],
    ['closed thoughts', choice({ content: '<think>I</think> ok' }, 'length'), { stop: 'length', remarks: undefined }],
    ['thoughts apart', choice({ content: 'ok', reasoning_content: 'I' }, 'stop'), { text: 'ok', remarks: undefined }],
  ])('content is read: %s', async (_, answer, read) => {
    expect(await (await open([answer])).complete(request())).toMatchObject(read);
  });

  test('one that keeps refusing what is no longer sent is not asked for ever', async () => {
    const model = await open([fails(400, 'response_format is not supported')]);
    await expect(model.complete(request({ format }))).rejects.toMatchObject({ code: 'failure' });
    expect(server.calls).toHaveLength(2);
  });

  test.each(['Sure! Here it is: {"choice":"a"}. Enjoy!', '{"choice": a}', 'Output:\n```json\n{"choice":"a"}\n```'])(
    'prose or wrong JSON is handed on as it is, and no longer called constrained: %j',
    async (text) => {
      const model = await open([says(text)]);
      expect((await model.complete(request({ format }))).text).toBe(text);
      expect(model.constrained).toBe(false);
    },
  );

  const page: ChatAnswer = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
  const long = "This model's maximum context length is 2048 tokens, max_tokens included";
  test.each([
    ['a page of a web server', page, 'config', /v1/],
    ['a prompt too long for it', fails(400, long), 'data', /fewer/],
    ['an unknown model', fails(404, 'model tiny not found'), 'config', /name/],
    ['a server that asks for hours', fails(429, 'come back', { 'retry-after': '86400' }), 'failure', /again/],
  ])('%s is an error at once', async (_, answer, code, hint) => {
    const model = await open([answer]);
    await expect(model.complete(request())).rejects.toMatchObject({ code, hint: expect.stringMatching(hint) });
    expect(waits).toEqual([]);
  });

  test('one that is not there is an error at once, with its URL; one that goes away later is waited for', async () => {
    const gone = await started(says('ok'));
    await gone.close();
    const model = await open([says('ok')], { baseUrl: gone.url });
    await expect(model.complete(request())).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(`ECONNREFUSED, at ${gone.url}#tiny`),
    });
    expect(waits).toEqual([]);

    const lost = await open([says('ok')]);
    await lost.complete(request());
    await server.close();
    await expect(lost.complete(request())).rejects.toMatchObject({ code: 'failure' });
    expect(waits).toHaveLength(3);
  });

  test('a stop ends the request under way, the wait between tries, and what is queued', async () => {
    const stop = new AbortController();
    const model = await open([silent], { concurrency: 1 });
    const running = model.complete(request({ signal: stop.signal }));
    const queued = model.complete(request({ signal: stop.signal }));
    await asked(1);
    stop.abort();
    await expect(running).rejects.toMatchObject({ code: 'stopped' });
    await expect(queued).rejects.toMatchObject({ code: 'stopped' });
    expect(server.calls).toHaveLength(1);

    await server.close();
    const again = new AbortController();
    const delay = () => Promise.resolve(again.abort());
    const waiting = await open([fails(500, 'oops')], { delay });
    await expect(waiting.complete(request({ signal: again.signal }))).rejects.toMatchObject({ code: 'stopped' });
  });

  test('no more requests are under way than allowed', async () => {
    let [now, most] = [0, 0];
    const counted: ChatAnswer = (response, call) => {
      most = Math.max(most, ++now);
      setImmediate(() => {
        now--;
        says('ok')(response, call);
      });
    };
    const model = await open([counted], { concurrency: 2 });
    await Promise.all(Array.from({ length: 8 }, () => model.complete(request())));
    expect(most).toBe(2);
  });
});
