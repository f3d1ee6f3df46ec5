import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { QuestionAgent } from '../../../agents/question-agent.js';
import { questionRunner } from '../../../evaluation/ask.js';
import { type AskedEvaluation, evaluationFiles, evaluationFolder, keepEvaluation } from '../../../evaluation/keep.js';
import { replayEvaluation } from '../../../evaluation/replay.js';
import { askedOfShard, shardFolder, shardSamples } from '../../../evaluation/shards.js';
import { NameIndex } from '../../../src/kg/name-index.js';
import { openCompletionStore } from '../../../src/llm/client/completion-store.js';
import type { AnswerDecision } from '../../../src/llm/decision.js';
import type { Completion, LanguageModel } from '../../../src/llm/language-model.js';
import { openServerModel } from '../../../src/llm/server-model.js';
import { Rng } from '../../../src/run/seeds.js';
import { questionScorer } from '../../../tasks/questions/score.js';
import { chatServer, fails, says } from '../../fixtures/chat-server.js';
import { often } from '../../fixtures/long-tests.js';
import { scriptedModel } from '../../fixtures/scripted-model.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { about, answerOf, harbour, id, questionOf } from '../../fixtures/toy-harbour.js';

const samples = Array.from({ length: 6 }, (_, i) => questionOf(`q${i}`, 'Tamsin', i % 2 ? ['Ivo'] : ['Ada']));

/** Asks twice a question, the second time with what was said the first time. */
const twice: QuestionAgent = {
  name: 'twice',
  topicGiven: true,
  prompted: true,
  async answer({ id: questionId, question, form }, { client, trace }) {
    const ask = (phase: string, final: boolean) => {
      const decision: AnswerDecision = {
        kind: 'answer',
        phase,
        questionId,
        question: `${phase}: ${question}`,
        task: 'Answer.',
        examples: [],
        evidence: [],
        form,
        withReasoning: false,
        final,
      };
      return client.decide(decision);
    };
    const first = await ask('first', false);
    trace({ event: 'note', text: first.text });
    const { reply, text } = await ask('last', true);
    return answerOf({ entities: (reply?.answers ?? []).map(id), text, degraded: !reply });
  },
};
const wise = () =>
  scriptedModel((decision) => ({ answers: decision.questionId === 'q3' ? ['Skarn'] : ['Ivo', 'Ada'] }));

const settings: AskedEvaluation = {
  schemaVersion: 2,
  kind: 'evaluation',
  task: 'questions',
  agent: 'twice',
  about: { ...about, model: 'scripted', budget: 5 },
  modelId: 'scripted',
  resamples: 20,
  hashes: { graph: harbour.hash, dataset: 'd'.repeat(64) },
};
const scorer = questionScorer({ graph: harbour, names: new NameIndex(harbour), budget: 5, topicGiven: true });
const nameOf = (what: AskedEvaluation) => basename(evaluationFolder(what, {}));
const results = ['answers', 'traces', 'rows', 'evaluation'] as const;

async function run<Model extends LanguageModel>(root: string, model: Model, signal?: AbortSignal) {
  const folder = evaluationFolder(settings, { root });
  const asked = { asked: settings, folder, model, signal };
  const done = await keepEvaluation(questionRunner(twice), samples, scorer, asked);
  const files = evaluationFiles(done.folder);
  return { ...done, files, model, bytes: results.map((name) => readFileSync(files[name])) };
}

const replayOf = (folder: string, only?: string) =>
  replayEvaluation(questionRunner(twice), samples, scorer, { asked: { ...settings, folder }, only });

describe('an evaluation in its folder', () => {
  test('cut at any byte of its completions and run again asks only what is missing, and ends with the same bytes', async () => {
    const whole = await run(folderWith({}), wise());
    expect(whole.model.asked).toHaveLength(12);
    const completions = readFileSync(whole.files.completions);
    const lines = (bytes: Buffer) =>
      bytes
        .toString()
        .split('\n')
        .filter((line) => line.includes('"line":"completion"'));
    const rng = new Rng(1);
    for (let i = 0; i < often(2, 6); i++) {
      const cut = completions.subarray(0, rng.integer(completions.length + 1));
      const kept = lines(cut.subarray(0, cut.lastIndexOf(0x0a) + 1)).length;
      const root = folderWith({ [join(nameOf(settings), 'completions.jsonl')]: cut });
      const again = await run(root, wise());
      expect(again.model.asked).toHaveLength(12 - kept);
      expect(again.bytes).toEqual(whole.bytes);
    }
  });

  test('in parts asks what the whole would, of which one may have been killed at any byte; each part is replayed by itself', async () => {
    const whole = await run(folderWith({}), wise());
    const rng = new Rng(2);
    for (let i = 0; i < often(2, 6); i++) {
      const root = folderWith({});
      const folder = evaluationFolder(settings, { root });
      let asked = 0;
      for (const part of [1, 2]) {
        const [model, shard] = [wise(), { part, of: 2 }];
        const own = { asked: askedOfShard(settings, shard), folder: shardFolder(folder, shard), model };
        await keepEvaluation(questionRunner(twice), shardSamples(samples, shard), scorer, own);
        asked += model.asked.length;
        expect(
          await replayEvaluation(questionRunner(twice), samples, scorer, {
            asked: { ...own.asked, folder: own.folder },
          }),
        ).toMatchObject({
          n: 3,
          identical: true,
        });
      }
      expect(asked).toBe(12);
      const { completions } = evaluationFiles(shardFolder(folder, { part: 2, of: 2 }));
      const all = readFileSync(completions);
      const cut = i === 0 ? all : all.subarray(0, rng.integer(all.length + 1));
      const lost =
        all.toString().split('"line":"completion"').length - cut.toString().split('"line":"completion"').length;
      writeFileSync(completions, cut);
      const joined = await run(root, wise());
      // A line that was cut within may be counted as there.
      expect([lost, lost + 1]).toContain(joined.model.asked.length);
      if (i === 0) expect(joined.model.asked).toHaveLength(0);
      expect(joined.bytes).toEqual(whole.bytes);
    }
  });

  test('B-FISKE-10: stopped by the user it resumes; run once more it asks nothing and writes the same', async () => {
    const root = folderWith({});
    const controller = new AbortController();
    const stopping = scriptedModel((decision) => {
      if (decision.questionId === 'q2') controller.abort();
      return { answers: ['Ivo', 'Ada'] };
    });
    await expect(run(root, stopping, controller.signal)).rejects.toMatchObject({
      code: 'stopped',
      hint: expect.stringContaining('resumes'),
    });
    const first = await run(root, wise());
    expect(first.resumed).toBe(true);
    expect(first.model.asked.length).toBeLessThan(12);
    const second = await run(root, wise());
    expect(second.model.asked).toHaveLength(0);
    expect(second.bytes).toEqual(first.bytes);
    expect(second.speed).toMatchObject({ asked: 0, remembered: 12 });
  });

  test('what is counted of decisions reaches neither agent nor model: other golds change rows, and no byte of what was asked', async () => {
    const evaluated = async (chain: string[], answers: string[]) => {
      const own = [0, 1].map((i) => questionOf(`q${i}`, 'Tamsin', answers, { chain }));
      const asked = { asked: settings, folder: evaluationFolder(settings, { root: folderWith({}) }), model: wise() };
      const { rows, folder } = await keepEvaluation(questionRunner(twice), own, scorer, asked);
      const files = evaluationFiles(folder);
      return { rows, asked: [files.completions, files.traces].map((file) => readFileSync(file)) };
    };
    const one = await evaluated(['sailed', 'built_by'], ['Ivo', 'Ada']);
    const other = await evaluated(['sailed'], ['Heron']);
    expect(one.rows[0]!.decisions).toEqual([
      expect.objectContaining({ phase: 'first', taken: 1, judged: 1, right: 1 }),
      expect.objectContaining({ phase: 'last', taken: 1, judged: 1, right: 1 }),
    ]);
    expect(other.rows[0]!.decisions).toMatchObject([{ right: 0 }, { right: 0 }]);
    expect(other.asked).toEqual(one.asked);
  });

  test('wall clock stands in timing.jsonl alone', async () => {
    const { files, speed } = await run(folderWith({}), wise());
    expect(speed).toMatchObject({ asked: 12, remembered: 0 });
    expect(readFileSync(files.timing, 'utf8')).toContain('"seconds"');
    for (const name of results) expect(readFileSync(files[name], 'latin1')).not.toMatch(/seconds|"ms"/);
  });

  test('a prompted agent without a model is refused', async () => {
    const asked = { asked: settings, folder: evaluationFolder(settings, { root: folderWith({}) }) };
    const missing = keepEvaluation(questionRunner(twice), samples, scorer, asked);
    await expect(missing).rejects.toThrow('expected a language model for agent twice, got none, at --model');
  });

  test('its name depends on agent, data, split and all other options', () => {
    expect(nameOf(settings)).toMatch(/^twice-toy-toy-valid-[0-9a-f]{8}$/);
    const others: AskedEvaluation[] = [
      { ...settings, modelId: 'other' },
      { ...settings, about: { ...settings.about, hopsWithheld: true } },
      { ...settings, about: { ...settings.about, budget: null } },
      { ...settings, about: { ...settings.about, switches: { a: 1 } } },
    ];
    expect(new Set([settings, ...others].map(nameOf)).size).toBe(5);
  });
});

test('a server that sometimes follows the schema gives the same bytes truncated, resumed and replayed', async () => {
  // Every third reply has prose around it; which are read as bound to the schema must not depend on who came before.
  const answers = ['{"answers":["Ivo"]}', '{"answers":["Ada"]}', 'It is {"answers":["Ada"]}, I think.'];
  const ask = async (root: string, from: number) => {
    const server = await chatServer(...Array.from({ length: 20 }, (_, i) => says(answers[(from + i) % 3]!)));
    const model = await openServerModel({ baseUrl: server.url, model: 'tiny', env: {}, concurrency: 1 });
    // The port differs from server to server; the evaluation is the same.
    const named = { ...model, id: 'server', name: 'server', complete: model.complete.bind(model) };
    return run(root, named).finally(() => server.close());
  };
  const whole = await ask(folderWith({}), 0);
  const completions = readFileSync(whole.files.completions);
  const ends = [...completions.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at + 1] : []));
  for (const end of ends.filter((_, i) => i % often(8, 4) === 2)) {
    const cut = completions.subarray(0, end);
    const asked = cut.toString().split('"line":"completion"').length - 1;
    const again = await ask(folderWith({ [join(nameOf(settings), 'completions.jsonl')]: cut }), asked);
    expect(again.bytes).toEqual(whole.bytes);
  }
  expect(await replayOf(whole.folder)).toMatchObject({ identical: true });
});

test('replies that were cut while thinking, and requests without what the server refuses, are counted in the record and replayed', async () => {
  const cut = { choices: [{ message: { content: '', reasoning_content: 'Let me' }, finish_reason: 'length' }] };
  const server = await chatServer(
    fails(400, 'temperature is not supported'),
    says('', cut),
    says('{"answers":["Ivo"]}'),
  );
  const model = await openServerModel({ baseUrl: server.url, model: 'tiny', env: {}, concurrency: 1, maxTokens: 2000 });
  const { record, folder } = await run(folderWith({}), model).finally(() => server.close());
  const asked = record.cost.calls!.total;
  expect(record.details.remarks).toEqual({ cut: 1, thinking: 1, 'without a temperature': asked });
  expect(record.sections).toContainEqual({
    title: 'Replies',
    lines: [`cut 1, thinking 1, without a temperature ${asked}`],
  });
  expect(new Set(server.calls.map(({ body }) => body.max_tokens))).toEqual(new Set([2000]));
  expect(model.id).toMatch(/:reply-2000$/);
  expect(await replayOf(folder)).toMatchObject({ identical: true });
});

describe('a replay', () => {
  test('has every byte, of all questions and of one', async () => {
    const { folder } = await run(folderWith({}), wise());
    expect(await replayOf(folder)).toMatchObject({ n: 6, identical: true, different: [], differentFiles: [] });
    const one = await replayOf(folder, 'q3');
    expect(one).toMatchObject({ n: 1, identical: true });
    expect(one.rows[0]).toMatchObject({ id: 'q3', names: ['Skarn'], calls: 2 });
    await expect(replayOf(folder, 'q9')).rejects.toThrow('got q9, at --question');
  });

  test('names the first question whose completion is another now; a line that was edited is never believed', async () => {
    const { folder, files } = await run(folderWith({}), wise());
    const text = readFileSync(files.completions, 'utf8');
    const line = text.split('\n').find((one) => one.includes('Skarn') && one.includes('"phase":"last"'))!;
    const { key, ...completion } = JSON.parse(line) as Completion & { key: string };
    const store = openCompletionStore(files.completions);
    const head = { system: 'another', head: 'another' };
    store.addCompletion(key, head, { questionId: 'q3', phase: 'last' }, { ...completion, text: '{"answers":["Ivo"]}' });
    store.close();
    const replay = await replayOf(folder);
    expect(replay).toMatchObject({ identical: false, different: ['q3'], first: { id: 'q3', file: 'answers.jsonl' } });
    expect([replay.first!.saved, replay.first!.replayed].map((row) => /"names":(\[.*?\])/.exec(row)![1])).toEqual([
      '["Skarn"]',
      '["Ivo"]',
    ]);
    writeFileSync(files.completions, text.replace('Skarn', 'Ada'));
    await expect(replayOf(folder)).rejects.toThrow('expected a line with a checksum that fits, got another');
  });

  test('knows a completion that is missing', async () => {
    const { folder, files } = await run(folderWith({}), wise());
    const lines = readFileSync(files.completions, 'utf8').split('\n');
    const last = lines.findLastIndex((line) => line.includes('"line":"completion"'));
    writeFileSync(files.completions, lines.toSpliced(last, 1).join('\n'));
    const replay = await replayOf(folder);
    expect(replay.identical).toBe(false);
    expect(replay.first!.replayed).toContain('expected a stored completion, got none');
  });
});
