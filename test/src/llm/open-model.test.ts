import { describe, expect, test } from '@jest/globals';
import { openLanguageModel } from '../../../src/llm/model-files.js';

describe('what stands behind --model', () => {
  test('URL#MODEL opens a server, with everything after the first # as its name', async () => {
    const model = await openLanguageModel('http://127.0.0.1:9/v1/#org/name#4bit', { server: { concurrency: 7 } });
    expect(model).toMatchObject({ name: 'http://127.0.0.1:9/v1#org/name#4bit', concurrency: 7 });
  });

  test('a path that ends in .gguf opens a local file', async () => {
    await expect(openLanguageModel('nowhere/none.GGUF')).rejects.toMatchObject({ code: 'data' });
  });

  test.each(['http://127.0.0.1/v1', 'http://127.0.0.1/v1#', 'model.bin', 'gpt-4', '', 'oracle:0.1'])(
    '%j is a usage error that says what can be given',
    async (spec) => {
      await expect(openLanguageModel(spec)).rejects.toMatchObject({
        code: 'usage',
        hint: expect.stringMatching(/v1#/),
      });
    },
  );
});
