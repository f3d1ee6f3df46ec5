import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Decision } from '../../../src/llm/decision.js';
import type { CompletionRequest, LanguageModel } from '../../../src/llm/language-model.js';
import { openServerModel, type ServerModelOptions } from '../../../src/llm/server-model.js';
import { answers, type ChatAnswer, type ChatServer, fails, says, useChatServers } from '../../fixtures/chat-server.js';

let server: ChatServer;
const started = useChatServers();
let waits: number[] = [];
beforeEach(() => void (waits = []));

async function open(answers: ChatAnswer[], options: Partial<ServerModelOptions> = {}): Promise<LanguageModel> {
  server = await started(...answers);
  const delay = (ms: number) => Promise.resolve(void waits.push(ms));
  return openServerModel({ ...{ baseUrl: server.url, model: 'tiny', env: {}, retries: 3, delay }, ...options });
}

const request = (change: Partial<CompletionRequest> = {}): CompletionRequest => ({
  ...{ system: 'You choose.', head: 'Choose one. ', body: 'a or b?', maxTokens: 20 },
  ...{ temperature: 0, seed: 5, attempt: 0, decision: undefined as unknown as Decision, ...change },
});

describe('what --model-set asks of a server', () => {
  const sampling = { temperature: 0.7, topP: 0.9, reasoning: 'off', extra: { top_k: 20 }, maxTokens: 900 } as const;

  test('is in each request and in the id; limits of the pace are not', async () => {
    const model = await open([says('ok')], { ...sampling, rpm: 1e9, tpm: 1e9 });
    await model.complete(request({ temperature: model.temperature }));
    expect(server.calls[0]!.body).toMatchObject({
      ...{ temperature: 0.7, top_p: 0.9, top_k: 20 },
      ...{ reasoning_effort: 'none', chat_template_kwargs: { enable_thinking: false } },
    });
    const asked = 'reply-900:temperature-0.7:top-p-0.9:reasoning-off:extra-{"top_k":20}';
    expect(model.id).toBe(`server:${server.url}#tiny:context-8192:${asked}`);
  });

  test('is left out where the server refuses it, one part after the other', async () => {
    const refuses = ['Unrecognized request argument supplied: chat_template_kwargs', "'reasoning_effort' takes low"];
    const model = await open(
      [...refuses.map((words) => fails(400, words)), fails(400, 'no top_p'), says('ok')],
      sampling,
    );
    for (let i = 0; i < 2; i++) {
      const { remarks } = await model.complete(request());
      expect(remarks).toEqual(['without chat_template_kwargs', 'without reasoning_effort', 'without top_p']);
    }
    expect(server.calls).toHaveLength(5);
    expect(Object.keys(server.calls[4]!.body)).toEqual(expect.arrayContaining(['temperature', 'top_k', 'seed']));
  });

  test.each<[string, ChatAnswer]>([
    ['without its code', answers(200, { error: { message: 'Unsupported parameter: temperature' } })],
    ['in a list', answers(200, [{ error: { message: 'temperature is not supported', code: 400 } }])],
    ['as details', answers(200, { detail: [{ loc: ['body', 'temperature'], msg: 'Extra inputs are not permitted' }] })],
    ['as a failure of the server', fails(500, 'unrecognized argument temperature')],
  ])('a refusal inside a 200, or a 500, is read as one: %s', async (_, refuses) => {
    const model = await open([refuses, says('ok')]);
    expect(await model.complete(request())).toMatchObject({ text: 'ok', remarks: ['without a temperature'] });
    expect(waits).toEqual([]);
  });

  test('so many requests and tokens a minute', async () => {
    const usage = { prompt_tokens: 900, completion_tokens: 100 };
    const byRequests = await open([says('ok', { usage })], { rpm: 6 });
    for (let i = 0; i < 3; i++) await byRequests.complete(request());
    expect(waits.map((ms) => Math.round(ms / 1000))).toEqual([10, 20]);
    waits = [];
    const byTokens = await open([says('ok', { usage })], { tpm: 6000 });
    for (let i = 0; i < 3; i++) await byTokens.complete(request());
    expect(waits.map((ms) => Math.round(ms / 1000))).toEqual([10, 20]);
  });
});

describe('a busy server', () => {
  const busy = fails(429, 'slow down');

  test('is asked by fewer at once, and waited for as long as it answers others', async () => {
    let [now, most, seen] = [0, 0, 0];
    const limited: ChatAnswer = (response, call) => {
      now++;
      if (++seen > 20) most = Math.max(most, now);
      const isFull = now > 1;
      setImmediate(() => {
        now--;
        (isFull ? busy : says('ok'))(response, call);
      });
    };
    const model = await open([limited], { concurrency: 8, retries: 2 });
    const replies = await Promise.all(Array.from({ length: 30 }, () => model.complete(request())));
    expect(replies.every(({ text }) => text === 'ok')).toBe(true);
    expect(most).toBeLessThanOrEqual(2);
  });

  test('that answers none to the end is an error that ends all work', async () => {
    const model = await open([busy]);
    await expect(model.complete(request())).rejects.toMatchObject({ code: 'failure', fatal: true });
    expect(server.calls).toHaveLength(4);
    const broken = await open([fails(500, 'oops')]);
    await expect(broken.complete(request())).rejects.toMatchObject({ code: 'failure', fatal: false });
  });
});
