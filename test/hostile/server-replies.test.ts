import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openServerModel } from '../../src/llm/server-model.js';
import { type ChatServer, chatServer, fails } from '../fixtures/chat-server.js';
import { withstands } from '../fixtures/hostile.js';
import { hostileJson, nasty } from '../fixtures/spoilt.js';

const reply = {
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: '{"choice":1}' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 30, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 16 } },
};
const request = { system: 's', head: 'h', body: 'b', format: undefined, maxTokens: 8, temperature: 0, seed: 1 };

let answer: (response: ServerResponse) => void;
let server: ChatServer;
beforeAll(async () => {
  server = await chatServer((response) => answer(response));
});
afterAll(() => server.close());

const open = () =>
  openServerModel({ baseUrl: server.url, model: 'm', env: {}, retries: 1, delay: () => Promise.resolve() });

describe('a server may answer what it likes', () => {
  test('bodies are completions, or one error that names the server', async () => {
    const inputs = fc.record({
      body: hostileJson(reply, { error: { message: 'no' } }, 'page', null),
      status: fc.constantFrom(200, 200, 200, 200, 400, 404, 429, 500),
      type: fc.constantFrom('application/json', 'application/json', 'text/html', ''),
    });
    const ask = async ({ body, status, type }: { body: Buffer; status: number; type: string }) => {
      answer = (response) => {
        response.writeHead(status, { 'content-type': type });
        response.end(body);
      };
      return (await open()).complete(request as never);
    };
    const isCompletion = (result: unknown) => {
      const { text, promptTokens, cachedTokens, completionTokens } = result as Record<string, unknown>;
      expect(typeof text).toBe('string');
      for (const count of [promptTokens, cachedTokens, completionTokens])
        expect(Number.isSafeInteger(count)).toBe(true);
    };
    await withstands(inputs, ask, { place: server.url, check: isCompletion, runs: [100, 10_000] });
  });

  test('repeated prompts are scores or one error that names the server', async () => {
    const choice = (text: string, index: number) => {
      const tokens = text.match(/\s*\S+/g)!;
      return { index, text, logprobs: { tokens, token_logprobs: tokens.map((_, i) => (i === 0 ? null : -i)) } };
    };
    const trial = ['One two three four five six', 'Seven eight nine ten eleven twelve'].map(choice);
    const scored = ['h b', 'h b one', 'h b two'].map(choice);
    const whole = (choices: object[]) => ({ id: 'c', object: 'text_completion', choices, usage: reply.usage });
    const inputs = fc.record({ first: hostileJson(whole(trial), null), then: hostileJson(whole(scored), 'page') });
    const score = async ({ first, then }: { first: Buffer; then: Buffer }) => {
      const bodies = [first, first, first, then];
      answer = (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(bodies.length > 1 ? bodies.shift() : bodies[0]);
      };
      const options = { baseUrl: server.url, model: 'm', env: {}, retries: 0, delay: () => Promise.resolve() };
      const model = await openServerModel({ ...options, scores: true });
      bodies.splice(0, bodies.length, then);
      return model.scoreTexts!({ head: 'h', body: ' b', meant: [] } as never, [' one', ' two']);
    };
    const isScored = (result: unknown) => {
      const { logProbs, tokens } = result as { logProbs: Float64Array; tokens: Int32Array };
      expect([logProbs.length, tokens.length]).toEqual([2, 2]);
      expect(logProbs.every(Number.isFinite) && tokens.every((count) => count > 0)).toBe(true);
    };
    await withstands(inputs, score, { place: server.url, check: isScored, runs: [100, 10_000] });
  });

  test('what it says of an error is shown without what a terminal would obey', async () => {
    const model = await open();
    for (const word of nasty.filter((one) => one.length < 100)) {
      answer = (response) => fails(400, `no: ${word}`)(response, undefined as never);
      const error = await model.complete(request as never).catch((one: Error) => one);
      expect((error as Error).message).not.toMatch(/\p{Cc}|[\u2028\u202e\u2066\u200f]/u);
    }
  });

  test('a body of more than was asked for is no answer, however deep', async () => {
    const deep = `${'['.repeat(3e6)}${']'.repeat(3e6)}`;
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"choices":[{"message":{"content":"x","z":${deep}}}]}`);
    };
    await expect((await open()).complete(request as never)).rejects.toThrow(
      /expected a reply of at most 26\d{4} bytes/,
    );
  });

  test('a body that does not end is cut off', async () => {
    let sent = 0;
    answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      void (async () => {
        while (!response.destroyed && sent < 2 ** 30) {
          sent += 2 ** 20;
          if (!response.write(Buffer.alloc(2 ** 20, ' ')))
            await Promise.race([once(response, 'drain'), once(response, 'close')]);
        }
      })();
    };
    await expect((await open()).complete(request as never)).rejects.toThrow(
      /expected a reply of at most 26\d{4} bytes, got a longer one, at http/,
    );
    expect(sent).toBeLessThan(2 ** 28);
  });
});
