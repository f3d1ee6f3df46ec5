/** Names that tokenizers split oddly, scored by the models that are here: the embedded one, and SmolLM2 where it is. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import type { LlamaModel } from 'node-llama-cpp';
import type { Decision } from '../../../src/llm/decision.js';
import type { LanguageModel } from '../../../src/llm/language-model.js';
import { plainTokens } from '../../../src/llm/llama/layouts.js';
import { llamaLibrary, openLlama } from '../../../src/llm/llama-library.js';
import { openLlamaModel } from '../../../src/llm/llama-model.js';
import { embeddedModelFile } from '../../../src/llm/model-files.js';

const smol = join(env.KGWALK_TEST_DATA ?? 'nowhere', 'models', 'SmolLM2-135M-Instruct.Q4_1.gguf');
if (!existsSync(smol))
  stderr.write('skipped: odd names in SmolLM2 (set KGWALK_TEST_DATA to the folder that holds models/)\n');

const request = {
  head: 'who sailed on it? = crew members',
  body: '\nwho drew it? =',
  decision: {} as Decision,
  meant: [],
};
/** Names with the space between body and name. */
const names = [
  ...['Ivo', 'Ivo Marr', 'Ivo Marrs', 'Ivo Marr, the elder', 'IVO MARR', '  Ivo', 'é', 'Zoë É. Ödön'],
  ...['小説', '🦆', '🦆🦆 Duck', '👩‍👩‍👧'],
  ...["O'Neill", '1731', '17310', '…', '=', '?', '<|im_end|>', '</s>', 'a\u0301', '', ' '],
].map((name) => ` ${name}`);

describe.each([
  ['the embedded model', embeddedModelFile() ?? 'nowhere'],
  ['SmolLM2', smol],
])('%s', (_, path) => {
  const withModel = existsSync(path) ? test : test.skip;
  let model: LanguageModel;
  let raw: LlamaModel;
  beforeAll(async () => {
    if (!existsSync(path)) return;
    await llamaLibrary();
    model = await openLlamaModel(path, { contextLength: 256 });
    raw = await (await openLlama('off')).loadModel({ modelPath: path, vocabOnly: true });
  });
  afterAll(async () => {
    await model?.dispose();
    await raw?.dispose();
  });

  withModel(
    'reads body and name as one line: joined tokens are the tokens of the joined line, and none is lost',
    () => {
      // The last ones join with what follows them.
      for (const body of [request.body, '\nwho drew it? = drawn by, then', '\nwho drew Zo', '\nthe yea', '\n?', '\n']) {
        for (const texts of [names, ['r', 'rs', 'ë', '!'], ['ë']]) {
          const { body: shared, continuations, lengths } = plainTokens(raw, { head: request.head, body }, texts);
          expect(shared.length).toBeGreaterThan(0);
          for (const [i, text] of texts.entries()) {
            const line = body.slice(1) + text;
            const whole = [...raw.tokenize('\n', false, 'trimLeadingSpace')];
            if (line !== '') whole.push(...raw.tokenize(line, false, 'trimLeadingSpace'));
            expect([...shared, ...continuations[i]!]).toEqual(whole);
            expect(lengths[i]).toBeGreaterThanOrEqual(1);
            expect(lengths[i]).toBeLessThanOrEqual(continuations[i]!.length);
          }
        }
      }
    },
  );

  withModel('never takes a name for a special token', () => {
    const { body, continuations } = plainTokens(raw, request, names);
    for (const token of [...body, ...continuations.flat()]) expect(raw.isSpecialToken(token)).toBe(false);
  });

  withModel(
    'gives each name a log-probability, equal names equal ones to the last bit, and the same again',
    async () => {
      const { logProbs, tokens } = await model.scoreTexts!(request, names);
      expect([...logProbs].every((one) => one < 0 && Number.isFinite(one))).toBe(true);
      expect([...tokens].every((count) => count >= 1)).toBe(true);
      const twice = await model.scoreTexts!(request, [...names, ...names]);
      expect([...twice.logProbs]).toEqual([...logProbs, ...logProbs]);
      expect([...twice.tokens]).toEqual([...tokens, ...tokens]);
    },
  );

  withModel('gives a name behind its own beginning what the whole has more than the beginning', async () => {
    const { logProbs } = await model.scoreTexts!(request, [' Ivo', ' Ivo Marr']);
    const then = await model.scoreTexts!({ ...request, body: `${request.body} Ivo` }, [' Marr']);
    expect(then.logProbs[0]! + logProbs[0]!).toBeCloseTo(logProbs[1]!, 1);
  });

  withModel('gives the same to questions that are scored at once', async () => {
    const bodies = ['\nwho drew it? =', '\nwhere was it built? =', '\nwho kept it? = drawn by, then'];
    const ask = (body: string) => model.scoreTexts!({ ...request, body }, names.slice(3, 9));
    const apart = [];
    for (const body of bodies) apart.push((await ask(body)).logProbs);
    const together = await Promise.all(bodies.map(ask));
    expect(together.map(({ logProbs }) => logProbs)).toEqual(apart);
  });

  withModel('stopped between two names leaves nothing behind in what is kept evaluated', async () => {
    const some = names.slice(0, 8);
    const { logProbs } = await model.scoreTexts!(request, some);
    for (const looks of [3, 8]) {
      let left = looks;
      const signal = Object.create(new AbortController().signal, {
        aborted: { get: () => left-- <= 0 },
        reason: { value: undefined },
      }) as AbortSignal;
      await expect(model.scoreTexts!({ ...request, signal }, some)).rejects.toMatchObject({ code: 'stopped' });
      expect((await model.scoreTexts!(request, some)).logProbs).toEqual(logProbs);
    }
  });

  withModel('scores many names in one request, each as far as it differs', async () => {
    const many = Array.from({ length: 40 }, (_, i) => ` crew member ${i}`);
    const { logProbs, usage } = await model.scoreTexts!(request, many);
    expect(logProbs).toHaveLength(40);
    expect(usage.completionTokens).toBe(0);
    await expect(model.scoreTexts!(request, [...many, ` ${'é 🦆 '.repeat(200)}`])).rejects.toMatchObject({
      code: 'data',
    });
    expect((await model.scoreTexts!(request, many)).logProbs).toEqual(logProbs);
  });
});
