import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { dialogueMeasure } from '../../tasks/dialogues/score.js';
import { csvOf, folderWith, longDialogue, missDialogue, releaseFiles } from '../fixtures/tiny-release.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { chatServer, says } from '../fixtures/chat-server.js';
import { kgwalk as kgwalkEnded, printed } from '../fixtures/command-line.js';

useSharedHome(() => importOpenDialKg({ from: folderWith(releaseFiles), name: 'toy' }));
let kept = '';

const kgwalk = (...words: string[]) => printed(...words, '--dataset', 'toy', '--evaluations', kept);
const evaluateJson = async (...words: string[]) =>
  JSON.parse(await kgwalk('evaluate', ...words, '--json')) as EvaluationRecord;

beforeEach(() => {
  kept = folderWith({});
});

describe('kgwalk evaluate', () => {
  test('prints metrics, slices and coverage, and the same as JSON', async () => {
    const text = await kgwalk('evaluate', '--agent', 'memory');
    expect(text).toMatch(/^memory on toy, graph dialogue · split valid · n = 2 · turns all · beam 30\n/);
    expect(text).toMatch(/path@k +100\.0 \[20\.7, 100\.0\]/);
    expect(text).toMatch(/hops=2 +1 /);
    const record = await evaluateJson('--agent', 'memory');
    expect(record).toMatchObject({ agent: 'memory', dataset: 'toy', split: 'valid', n: 2, count: 'strict' });
    expect(record).toMatchObject({ schemaVersion: 2, task: 'dialogues', clusters: 'dialogues' });
    expect(record.metrics['path@1']).toEqual({ value: 1, low: expect.closeTo(0.2065, 4), high: 1, n: 2 });
    expect(record.slices['sender=assistant']!['target@1']!.n).toBe(1);
  });

  test('takes another split, graph and turns', async () => {
    expect(await evaluateJson('--agent', 'random', '--split', 'test')).toMatchObject({
      n: 1,
      misses: { 'start-without-edges': 1 },
      details: { coverage: { startHasEdges: 0 } },
    });
    const wide = await evaluateJson('--agent', 'random', '--graph', 'wide', '--turns', 'assistant', '--split', 'train');
    expect(wide).toMatchObject({ graph: 'wide', turns: 'assistant', n: 2 });
  });

  test('takes dialogues of a file, a seeded limit, and writes predictions', async () => {
    const folder = folderWith({ 'mine.csv': csvOf([longDialogue, longDialogue, missDialogue]) });
    const predictions = join(folder, 'out.jsonl');
    const words = ['--agent', 'frequency', '--data', join(folder, 'mine.csv'), '--limit', '3'];
    const record = await evaluateJson(...words, '--predictions', predictions);
    expect(record).toMatchObject({
      split: 'mine.csv',
      n: 3,
      hashes: { data: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const ids = readFileSync(predictions, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).toHaveLength(3);
    await evaluateJson(...words, '--predictions', join(folder, 'again.jsonl'));
    expect(readFileSync(join(folder, 'again.jsonl'), 'utf8')).toBe(readFileSync(predictions, 'utf8'));
  });

  test.each([
    [['evaluate'], 'expected a run or --agent NAME, got neither'],
    [['evaluate', 'some-run', '--agent', 'random'], 'got both'],
    [['evaluate', '--agent', 'randon'], 'expected an agent'],
    [['evaluate', 'no-such-run'], 'expected an agent or a run, got "no-such-run"'],
    [['evaluate', '--agent', 'pog'], 'expected an agent for dialogues, got pog, which is for questions'],
    [
      ['evaluate', '--agent', 'random', '--budget', '3'],
      'expected an agent of several calls with --budget, got random',
    ],
    [['compare', 'random', 'rules:minSupport=2'], 'expected an agent for dialogues, got rules, which is for links'],
    [['evaluate', '--agent', 'random', '--split', 'tset'], 'expected train, valid or test, got tset'],
    [['evaluate', '--agent', 'random', '--threads', '2'], 'expected a run with --threads 2, got agent random'],
    [
      ['evaluate', '--agent', 'random', '--threads', '0'],
      'expected a whole number from 1 to 256, got "0", at --threads',
    ],
    [['evaluate', '--agent', 'random', '--limit', '0'], 'expected a whole number from 1, got "0", at --limit'],
    [['evaluate', '--agent', 'random', '--predictions', 'x.txt'], 'ends in .jsonl or .csv'],
    [['evaluate', '--agent', 'random', '--beam-width', '10'], 'beam'],
    [['evaluate', '--agent', 'random', '--turns', 'nobody'], 'turns'],
    [['evaluate', '--agent', 'random', '--graph', 'huge'], 'expected a graph of toy'],
    [['evaluate', '--agent', 'random', '--part', '3/2'], 'expected a part such as 2/8, got "3/2", at --part'],
  ])('%j is refused', async (words, message) => {
    await expect(kgwalk(...words)).rejects.toThrow(message);
  });

  test('in parts is what it is at once', async () => {
    const whole = await evaluateJson('--agent', 'memory');
    kept = folderWith({});
    for (const shard of ['2/2', '1/2']) {
      expect(await evaluateJson('--agent', 'memory', '--part', shard)).toMatchObject({ n: 1, shard });
    }
    const text = await kgwalk('evaluate', '--agent', 'memory');
    const { saved: _, speed: __, ...first } = whole as EvaluationRecord & Record<string, unknown>;
    const folder = text.match(/saved: (.*)\n/)![1]!;
    expect(first).toMatchObject(JSON.parse(readFileSync(join(folder, 'evaluation.json'), 'utf8')) as object);
    expect(existsSync(join(folder, 'shards'))).toBe(false);
  });

  test('a language model is needed by prompts on dialogues only', async () => {
    const refusal = async (...words: string[]) => {
      const failed = kgwalk('evaluate', ...words);
      await expect(failed).rejects.toMatchObject({ code: 'usage' });
      return failed.catch((error: Error) => error.message);
    };
    expect(await refusal('--agent', 'ark-opa', '--model', 'oracle:0')).toMatch(/got oracle:0/);
    expect(['ark-opa', 'tog', 'a run'].map(dialogueMeasure.spends!)).toEqual([false, true, true]);
    expect(await refusal('--agent', 'random', '--model', 'x.gguf')).toMatch(/no agent named asks one/);
  });

  test('a prompt on dialogues opens its model with --model-set', async () => {
    const words = ['evaluate', '--agent', 'ark-opa', '--model-set', 'thread=2', '--model'];
    for (const model of ['x.gguf', 'http://127.0.0.1:9/v1#any']) {
      await expect(kgwalk(...words, model)).rejects.toMatchObject({
        code: 'config',
        message: expect.stringContaining('thread'),
      });
    }
  });

  test('replies that think need a limit within half of the context; those cut are said at the end', async () => {
    const words = [
      'evaluate',
      '--agent',
      'ark-opa',
      '--model-set',
      'replyTokens=5000',
      '--model',
      'http://127.0.0.1:9/v1#any',
    ];
    await expect(kgwalk(...words)).rejects.toMatchObject({
      ...{ code: 'config', message: expect.stringContaining('half of the context (8192), got 5000') },
      hint: expect.stringContaining('contextLength=10000'),
    });
    const choice = { message: { content: '<think>so' }, finish_reason: 'length' };
    const server = await chatServer(says('', { choices: [choice] }));
    const { err } = await kgwalkEnded(
      ...['evaluate', '--agent', 'ark-opa', '--model', `${server.url}#m`, '--model-set', 'replyTokens=900'],
      ...['--dataset', 'toy', '--evaluations', kept],
    ).finally(() => server.close());
    expect(err).toMatch(/ark-opa: (\d+) of \1 replies were cut at their limit, \1 ended before .*replyTokens=/);
    expect(server.calls[0]!.body.max_tokens).toBe(900);
  });

  test('an empty split is refused before any work', async () => {
    const folder = folderWith({ 'none.csv': csvOf([]) });
    await expect(kgwalk('evaluate', '--agent', 'random', '--data', join(folder, 'none.csv'))).rejects.toMatchObject({
      code: 'data',
    });
    expect(existsSync(join(folder, 'evaluations'))).toBe(false);
  });
});

describe('kgwalk compare', () => {
  test('tests every agent against the last one', async () => {
    const text = await kgwalk('compare', 'random', 'popularity', 'memory');
    expect(text).toMatch(/3 agents on toy/);
    expect(text).toMatch(/path@1 − memory/);
    expect(text).toMatch(/uses entity counts/);
    const { agents, comparisons } = JSON.parse(await kgwalk('compare', 'random', 'memory', '--json'));
    expect(agents.map(({ name }: { name: string }) => name)).toEqual(['random', 'memory']);
    expect(comparisons).toHaveLength(1);
    expect(comparisons[0]).toMatchObject({ agent: 'random', against: 'memory', differences: { 'path@1': { n: 2 } } });
  });

  test('opens the agents that need vectors, and names them', async () => {
    const { agents } = JSON.parse(await kgwalk('compare', 'transe', 'text-similarity', '--json'));
    expect(agents[1].encoder).toBe('kgwalk-demo.gguf');
    expect(existsSync(join(env.KGWALK_HOME!, 'embeddings'))).toBe(true);
  });
});

describe('hints look at what is there', () => {
  const folder = folderWith({ 'a-run/config.yaml': 'name: a\n' });
  const tiny = ['train', 'opendialkg-tiny', '--set', 'data.dataset=toy', '--set', 'transe.enabled=false'];
  test.each([
    [
      ['ask', '--dataset', 'toy', '--agent', 'io', 'Who?'],
      /expected an agent for dialogues, got io, which is for questions/,
    ],
    [['compare', 'toy'], /hint: A data set is given by --dataset toy\. Agents on dialogues: random/],
    [['evaluate', 'umls-chains'], /hint: A preset is trained first: `(npx )?kgwalk train umls-chains`\./],
    [['runs', 'verify', 'metaqa'], /hint: A preset is trained first: `(npx )?kgwalk train metaqa`\./],
    [['train', join(folder, 'a-run')], /got a run, at [^]*hint: Continue the run: .*--resume --run-dir/],
    [['train', 'opendialkg'], /^error: [^]*hint: Get it: (npx )?kgwalk datasets get opendialkg\n?$/],
    [['train', 'demo'], /^error: [^]*hint: Make it: (npx )?kgwalk datasets demo\n?$/],
    [
      [...tiny, '--model', 'nothere.gguf'],
      /^error: expected a whole GGUF model file, got nothing, at .*nothere.gguf\nhint/,
    ],
    [[...tiny, '--model', 'demos'], /^error: [^]*or hashed:DIM for vectors without a model\.\n?$/],
  ])('%j', async (words, message) => {
    const { exitCode, err } = await kgwalkEnded(...words);
    expect([exitCode > 0, err]).toEqual([true, expect.stringMatching(message)]);
  });
});
