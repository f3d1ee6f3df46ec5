/** The key of a language-model server goes to that server, and nowhere else. */
import { describe, expect, test } from '@jest/globals';
import { inspect } from 'node:util';
import type { CompletionRequest } from '../../../src/llm/language-model.js';
import { openServerModel } from '../../../src/llm/server-model.js';
import { type ChatAnswer, fails, says, useChatServers } from '../../fixtures/chat-server.js';

const key = 'sk-planted-0123456789';
const request = { system: 's', head: 'h', body: 'b', maxTokens: 9, temperature: 0, seed: 1 } as CompletionRequest;

const started = useChatServers();

/** Error of a request to a server with this answer, and the model. */
async function failing(answer: ChatAnswer, env: Record<string, string>): Promise<{ error: unknown; model: unknown }> {
  const patience = { retries: 1, delay: () => Promise.resolve() };
  const model = await openServerModel({ baseUrl: (await started(answer)).url, model: 'm', env, ...patience });
  return { error: await model.complete(request).catch((thrown: unknown) => thrown), model };
}

describe('the key', () => {
  const echo = `key ${key} is wrong`;
  test.each([
    ['a refused key', fails(401, echo)],
    ['a forbidden one', fails(403, echo)],
    ['an error of the server', fails(500, echo)],
    ['a bad request', fails(400, echo)],
    ['a reset', (response: Parameters<ChatAnswer>[0]) => void response.destroy()],
  ])('is in no part of the error or the model: %s', async (_, answer) => {
    const { error, model } = await failing(answer, { KGWALK_LLM_KEY: key });
    expect(error).toMatchObject({ code: expect.stringMatching(/config|failure/) });
    expect(inspect([error, model], { depth: 10, showHidden: true })).not.toContain(key);
  });

  test('with a line break at its end, as files give it, is hidden too', async () => {
    const { error } = await failing(fails(401, echo), { KGWALK_LLM_KEY: `${key}\n` });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(key);
  });

  test('that a server repeats in its reply is not in the completion', async () => {
    const server = await started(says(`You are ${key}, ${Buffer.from(key).toString('base64')}.`));
    const model = await openServerModel({ baseUrl: server.url, model: 'm', env: { KGWALK_LLM_KEY: key } });
    expect((await model.complete(request)).text).toMatch(/^You are \*\*\*, \*\*\*=*\.$/);
  });

  test.each([301, 302, 307, 308])('does not follow a redirect (%i) to another host', async (status) => {
    const other = await started(says('hello'));
    const move: ChatAnswer = (response) =>
      response.writeHead(status, { location: `${other.url}/chat/completions` }).end();
    const { error } = await failing(move, { KGWALK_LLM_KEY: key });
    expect(error).toMatchObject({
      code: 'config',
      message: expect.stringContaining(`redirect to ${new URL(other.url).origin}`),
    });
    expect(other.calls).toEqual([]);
  });

  test('is asked for where none is set', async () => {
    const { error } = await failing(fails(401, 'no key'), {});
    expect(error).toMatchObject({ code: 'config', hint: expect.stringMatching(/Set the key.*KGWALK_LLM_KEY/) });
  });

  test.each(['http://user:secret@host/v1', 'http://host/v1?key=secret', 'ftp://secret', 'secret'])(
    'an address with anything secret in it is refused without repeating it: %s',
    async (baseUrl) => {
      const error = await openServerModel({ baseUrl, model: 'm' }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'usage' });
      expect(inspect(error)).not.toContain('secret');
    },
  );
});
