/** A model file that is altered, replaced or removed while it is in use: nothing of one model is kept under the id of another. */
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { QuestionAgent } from '../../agents/question-agent.js';
import { evaluationFiles } from '../../src/run/run-files.js';
import { questionRunner } from '../../evaluation/ask.js';
import { type AskedEvaluation, evaluationFolder, keepEvaluation } from '../../evaluation/keep.js';
import { openEncoderCache } from '../../src/encoder/encoder-cache.js';
import { openLlamaEncoder } from '../../src/encoder/llama-encoder.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import { openCompletionStore } from '../../src/llm/client/completion-store.js';
import type { AnswerDecision } from '../../src/llm/decision.js';
import { NameIndex } from '../../src/kg/name-index.js';
import { openLlamaModel } from '../../src/llm/llama-model.js';
import { embeddedModelFile } from '../../src/llm/model-files.js';
import { about, answerOf, harbour, id, questionOf } from '../fixtures/toy-harbour.js';
import { questionScorer } from '../../tasks/questions/score.js';
import { tally } from '../fixtures/long-tests.js';
import { tinyLlama } from '../fixtures/tiny-llama.js';
import { folderWith } from '../fixtures/tiny-release.js';

/** Changes of a file: its last weights differ afterwards, or it is gone. */
const changes: Record<string, (path: string) => void> = {
  'altered in place': (path) => writeFileSync(path, altered(path)),
  'replaced by another': (path) => {
    writeFileSync(`${path}.new`, altered(path));
    renameSync(`${path}.new`, path);
  },
  removed: (path) => rmSync(path),
};

function altered(path: string): Buffer {
  const bytes = readFileSync(path);
  bytes[bytes.length - 2]! ^= 1;
  return bytes;
}

const refusal = { code: 'data', fatal: true, message: expect.stringContaining('the file that was opened') };

describe.each(Object.entries(changes))('a model that is %s', (_name, change) => {
  let original: string;
  beforeAll(async () => {
    original = (await tinyLlama()).path;
  });

  test('while an encoder uses it ends the work, and the cache holds only what the model of its id encoded', async () => {
    const cacheFolder = folderWith({});
    const modelPath = join(folderWith({}), 'model.gguf');
    copyFileSync(original, modelPath);
    const settings = encoderSettings.parse({ workers: 1 });
    const open = () => openLlamaEncoder({ modelPath, settings, cacheFolder });
    const entries = async () => {
      const cache = await openEncoderCache(cacheFolder);
      const { encoders } = cache.info();
      await cache.close();
      return encoders.map((one) => one.entries);
    };

    const early = await open();
    change(modelPath);
    // It is loaded only now.
    await expect(early.encode(['a red house'])).rejects.toMatchObject({ code: 'data' });
    await early.dispose();
    expect(await entries()).toEqual([]);

    copyFileSync(original, modelPath);
    const encoder = await open();
    const before = await encoder.encode(['a red house']);
    change(modelPath);
    await expect(encoder.encode(['a blue house', 'a green house'])).rejects.toMatchObject(refusal);
    expect((await encoder.encode(['a red house'])).matrix).toEqual(before.matrix);
    await encoder.dispose();
    expect(await entries()).toEqual([1]);
    tally('faults injected', 2);
  });

  test('while questions are asked ends the evaluation, which resumes once the file is back', async () => {
    const modelPath = join(folderWith({}), 'model.gguf');
    const demo = embeddedModelFile()!;
    copyFileSync(demo, modelPath);
    const root = folderWith({});
    const run = async (onCall: (call: number) => void) => {
      const model = await openLlamaModel(modelPath, { contextLength: 512, heads: 1 });
      let calls = 0;
      try {
        const watched = { ...model, complete: (request: never) => (onCall(++calls), model.complete(request)) };
        const asked: AskedEvaluation = { ...common, modelId: model.id };
        const folder = evaluationFolder(asked, { root });
        const scorer = questionScorer({ ...about, graph: harbour, names: new NameIndex(harbour), budget: 1 });
        const evaluation = await keepEvaluation(questionRunner(asksOnce), samples, scorer, {
          asked,
          folder,
          model: watched,
        });
        return { ...evaluation, calls };
      } finally {
        await model.dispose();
      }
    };
    // The last but one: so few failures would otherwise be counted as misses.
    await expect(run((call) => call === 3 && change(modelPath))).rejects.toMatchObject(refusal);
    copyFileSync(demo, modelPath);
    const whole = await run(() => {});
    expect(whole.calls).toBe(2);
    expect(whole.rows.some(({ crash }) => crash !== undefined)).toBe(false);
    const store = openCompletionStore(evaluationFiles(whole.folder).completions, { readOnly: true });
    expect(store.size).toBe(4);
    store.close();
    tally('faults injected');
  });
});

const samples = Array.from({ length: 4 }, (_, i) => questionOf(`q${i}`, 'Tamsin', ['Ivo']));

const asksOnce: QuestionAgent = {
  name: 'asks-once',
  topicGiven: true,
  prompted: true,
  async answer({ id: questionId, question, form }, { client }) {
    const words = { phase: 'answer', questionId, question, task: 'Answer.', examples: [], evidence: [] };
    const decision: AnswerDecision = { kind: 'answer', ...words, form, withReasoning: false, final: true };
    const { reply, text } = await client.decide(decision);
    return answerOf({ entities: (reply?.answers ?? []).map(id), text, degraded: !reply });
  },
};

const common: AskedEvaluation = {
  schemaVersion: 2,
  kind: 'evaluation',
  task: 'questions',
  agent: 'asks-once',
  about: { ...about, model: 'demo', budget: 1 },
  resamples: 20,
  hashes: { graph: harbour.hash, dataset: 'd'.repeat(64) },
};
