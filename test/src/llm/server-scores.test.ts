import { describe, expect, test } from '@jest/globals';
import type { Decision } from '../../../src/llm/decision.js';
import type { LanguageModel } from '../../../src/llm/language-model.js';
import { openServerModel, type ServerModelOptions } from '../../../src/llm/server-model.js';
import { type ChatAnswer, type ChatCall, type ChatServer, fails, useChatServers } from '../../fixtures/chat-server.js';
import { echoes, tokensOf } from '../../fixtures/echo-server.js';

let server: ChatServer;
const started = useChatServers();

async function open(answers: ChatAnswer[], options: Partial<ServerModelOptions> = {}): Promise<LanguageModel> {
  server = await started(...answers);
  const patience = { retries: 2, delay: () => Promise.resolve() };
  return openServerModel({ baseUrl: server.url, model: 'tiny', env: {}, scores: true, ...patience, ...options });
}

const request = { head: 'who? = Ivo', body: '\nwho drew it? =', decision: {} as Decision, meant: [] };
const promptsOf = ({ body }: ChatCall) => [body.prompt].flat() as string[];

describe('a server that repeats prompts with their log-probabilities', () => {
  test('is tried once, and scores the tokens of each text behind what is before', async () => {
    const model = await open([echoes()]);
    expect(server.calls).toHaveLength(1);
    expect(server.calls[0]).toMatchObject({
      url: '/v1/completions',
      body: { model: 'tiny', max_tokens: 0, echo: true, logprobs: 1, temperature: 0 },
    });
    expect(model.id).toBe(`server:${server.url}#tiny:context-8192`);
    const { logProbs, tokens, usage } = await model.scoreTexts!(request, [' drawn by', ' kept', ' drawn by']);
    // The fixture's tokens are words with the space before them, each worth its length in nats.
    expect([...tokens]).toEqual([2, 1, 2]);
    expect([...logProbs]).toEqual([-9, -5, -9]);
    const before = request.head + request.body;
    expect(promptsOf(server.calls[1]!)).toEqual([before, `${before} drawn by`, `${before} kept`]);
    const sent = promptsOf(server.calls[1]!).flatMap((prompt) => tokensOf(prompt));
    expect(usage).toEqual({ promptTokens: sent.length, cachedTokens: 0, completionTokens: 0 });
  });

  test('whose tokens join the end of what is before with the text is scored as it reads', async () => {
    // `=` and the first word are one token here; a start token stands before all, and a letter falls apart into bytes.
    const joins = (text: string) => ['<s>', ...(text.replace('é', '��').match(/ = \w+| ?[^ ]+?(?= |$)/g) ?? [])];
    const model = await open([echoes({ split: joins })]);
    const { logProbs, tokens } = await model.scoreTexts!({ ...request, head: 'café? = Ivo' }, [' drawn by', ' kept']);
    expect([...tokens]).toEqual([2, 1]);
    expect([...logProbs]).toEqual([-' = drawn by'.length, -' = kept'.length]);
  });

  test('that must write a token behind each prompt gets one prompt a request, and its own token is not counted in', async () => {
    const model = await open([echoes({ writes: ' and' })]);
    const { logProbs, tokens, usage } = await model.scoreTexts!(request, [' drawn by', ' kept']);
    expect([...tokens]).toEqual([2, 1]);
    expect([...logProbs]).toEqual([-9, -5]);
    expect(usage.completionTokens).toBe(3);
    expect(server.calls.slice(-3).map(({ body }) => typeof body.prompt)).toEqual(['string', 'string', 'string']);
  });

  test('is asked for many texts in several requests', async () => {
    const model = await open([echoes()]);
    const texts = Array.from({ length: 200 }, (_, i) => ` name ${i}`);
    const { tokens } = await model.scoreTexts!(request, texts);
    expect(tokens).toHaveLength(200);
    expect(server.calls.slice(1).map((call) => promptsOf(call).length)).toEqual([64, 64, 64, 9]);
  });

  test('is waited for like any other', async () => {
    const model = await open([echoes(), fails(503, 'busy'), echoes()]);
    expect([...(await model.scoreTexts!(request, [' kept'])).tokens]).toEqual([1]);
  });

  test.each([
    ['refuses', fails(400, 'echo with logprobs is not supported')],
    ['gives fewer numbers than tokens', echoes({ values: (values) => values.slice(2) })],
    ['gives none', echoes({ values: (values) => values.map(() => null) })],
  ])('that %s midway ends it with one error that names the remedies', async (_, answer) => {
    const model = await open([echoes(), answer]);
    await expect(model.scoreTexts!(request, [' kept'])).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(`expected log-probabilities of a prompt`),
      hint: expect.stringContaining('--choices written'),
    });
  });

  test('that refuses a prompt as too long says that', async () => {
    const model = await open([echoes(), fails(400, 'maximum context length is 2048 tokens')]);
    await expect(model.scoreTexts!(request, [' kept'])).rejects.toMatchObject({ code: 'data' });
  });
});

describe('a server that does not score', () => {
  // llama.cpp answers with what it wrote alone, others with zeros or nothing.
  const own = { index: 0, text: ' and', logprobs: { tokens: [' and'], token_logprobs: [-0.5] } };
  const answersAlone: ChatAnswer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [own, own], usage: { prompt_tokens: 6, completion_tokens: 1 } }));
  };
  test.each([
    ['refuses', fails(400, 'echo is not supported')],
    ['has no such place', fails(404, 'Not Found')],
    ['finds short prompts too long', fails(400, 'maximum context length is 0 tokens')],
    ['breaks down over it', fails(500, 'Internal Server Error')],
    ['returns numbers of its generated text only', answersAlone],
    ['fills up with zeros', echoes({ values: (values) => values.map(() => 0) })],
    ['has no numbers for prompts', echoes({ values: (values) => values.map(() => null) })],
  ])('since it %s is one error that names what does', async (_, answer) => {
    await expect(open([answer])).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/^expected log-probabilities of a prompt, got none, at http.*#tiny$/),
      hint: expect.stringContaining('--choices written'),
    });
  });

  test.each([
    ['has no time', fails(429, 'Too Many Requests'), { code: 'failure' }],
    ['is not there for the moment', fails(503, 'Service Unavailable'), { code: 'failure' }],
    ['wants a key', fails(401, 'Unauthorized'), { code: 'config', message: expect.stringContaining('without a key') }],
    ['forbids it', fails(403, 'Forbidden'), { code: 'config', message: expect.stringContaining('without a key') }],
    ['is elsewhere', fails(307, 'Moved'), { code: 'config', message: expect.stringContaining('a redirect') }],
  ])('is not confused with one that %s, which is the reported error', async (_, answer, error) => {
    await expect(open([answer])).rejects.toMatchObject(error);
  });

  test('is not contacted without `scores`', async () => {
    const model = await open([echoes()], { scores: false });
    expect([model.scoreTexts, server.calls]).toEqual([undefined, []]);
  });
});
