/** Behaviour of commands on all tasks: figures, samples, kept evaluations, resuming, replays, notes. */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Comparison } from '../../evaluation/compare.js';
import { evaluationFiles } from '../../evaluation/keep.js';
import { type EvaluationRecord, sealEvaluation } from '../../src/run/evaluation.js';
import { chatServer, says } from '../fixtures/chat-server.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { isLong } from '../fixtures/long-tests.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { partialRows } from '../fixtures/partial-rows.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { evaluationOf } from '../fixtures/tiny-training.js';

const home = useSharedHome(async () => {
  for (const task of ['dialogues', 'questions', 'links'] as const) await finishedRun(task);
});
const run = (task: string) => join(home(), `${task}-run`);

/** Per task an untrained agent, its data set, and its first figure. */
const tasks = [
  ['dialogues', 'popularity', 'opendialkg', 'path@1'],
  ['questions', 'random-chain', 'films', 'hit@1'],
  ['links', 'random', 'tiny', 'mrr'],
] as const;

type Saved = EvaluationRecord & { saved: string };
const evaluate = (...words: string[]) => kgwalkJson<Saved>('evaluate', '--encoder', 'hashed:32', ...words);
const onLinks = (...words: string[]) => kgwalkJson<Saved>('evaluate', '--dataset', 'tiny', ...words);
const evaluated = (task: string, agent: string, dataset: string, ...words: string[]) =>
  (task === 'links' ? onLinks : evaluate)('--agent', agent, '--dataset', dataset, ...words);

/** Everything in an evaluation's folder but the clock. */
const bytesOf = (folder: string) => {
  const { timing: _, partial, ...files } = evaluationFiles(folder);
  expect(existsSync(partial)).toBe(false);
  return Object.entries(files).map(([name, file]) => [name, existsSync(file) ? readFileSync(file, 'latin1') : '']);
};

describe.each(tasks)('on %s', (task, agent, dataset, first) => {
  test('the JSON of an evaluation has `metrics` with the task’s figures, as they are declared', async () => {
    const record = await evaluated(task, agent, dataset);
    expect(record).toMatchObject({ task, agent, dataset, split: 'valid' });
    expect(record.figures[0]!.key).toBe(first);
    expect(Object.keys(record.metrics)).toEqual(record.figures.map(({ key }) => key));
    expect(record.metrics[first]).toMatchObject({ value: expect.any(Number), n: expect.any(Number) });
  });

  test('--limit takes every way to write a whole number', async () => {
    const root = ['--evaluations', folderWith({})];
    const thousand = await evaluated(task, agent, dataset, '--limit', '1e3', ...root);
    const plain = await evaluated(task, agent, dataset, '--limit', '1000', ...root);
    expect(thousand.saved).toBe(plain.saved);
    const one = await evaluated(task, agent, dataset, '--limit', '1e0', ...root);
    expect(one).toMatchObject({ limit: 1, n: task === 'links' ? 2 : 1 });
    const refused = await kgwalk('evaluate', '--agent', agent, '--dataset', dataset, '--limit', '1.5');
    expect([refused.exitCode, refused.err]).toEqual([2, expect.stringMatching(/whole number from 1, got .*--limit/)]);
  });

  test('the evaluation of an untrained agent is kept, and compared by name later', async () => {
    const { saved } = await evaluated(task, agent, dataset);
    const folder = dirname(saved);
    expect(basename(folder)).toMatch(new RegExp(`^${agent}-${dataset}-.*[0-9a-f]{8}$`));
    // Read, not made: a comparison of what was kept needs no data set.
    const away = join(home(), 'datasets', dataset);
    cpSync(away, `${away}.kept`, { recursive: true });
    rmSync(away, { recursive: true });
    try {
      const both = await kgwalkJson<{ agents: Saved[]; comparisons: Comparison[] }>(
        'compare',
        basename(folder),
        folder,
      );
      expect(both.agents.map((one) => one.agent)).toEqual([agent, agent]);
      expect(both.comparisons[0]!.differences[first]).toMatchObject({ value: 0, pValue: 1 });
    } finally {
      cpSync(`${away}.kept`, away, { recursive: true });
      rmSync(`${away}.kept`, { recursive: true });
    }
  });

  test('a killed one resumes from its rows, truncated at any byte, to the same bytes', async () => {
    const root = folderWith({});
    const folder = dirname((await evaluated(task, agent, dataset, '--evaluations', root)).saved);
    const whole = bytesOf(folder);
    const files = evaluationFiles(folder);
    const rows = partialRows(folder);
    for (const share of isLong ? [0, 0.3, 0.7, 1] : [0.3]) {
      for (const name of ['answers', 'rows', 'evaluation', 'provenance'] as const) rmSync(files[name]);
      rmSync(files.traces, { force: true });
      writeFileSync(files.partial, rows.subarray(0, Math.floor(share * rows.length)));
      await evaluated(task, agent, dataset, '--evaluations', root);
      expect(bytesOf(folder)).toEqual(whole);
    }
  });

  test('the evaluation of a run is replayed to the byte, all of it and one sample', async () => {
    const folder = evaluationOf(run(task), 'valid-best');
    const all = await kgwalkJson<{ n: number; identical: boolean }>('replay', folder);
    expect(all).toMatchObject({ identical: true, different: [], differentFiles: [] });
    const [line] = readFileSync(evaluationFiles(folder).answers, 'utf8').split('\n');
    const { id } = JSON.parse(line!) as { id: string };
    const one = await kgwalkJson<{ n: number; identical: boolean }>('replay', folder, '--question', id);
    expect(one).toMatchObject({ n: 1, identical: true, row: { id } });
  });

  test('an evaluation notes what its agent was made from, and the check of its run sees it', async () => {
    const folder = evaluationOf(run(task), 'valid-best');
    const notes = JSON.parse(readFileSync(evaluationFiles(folder).provenance, 'utf8')) as { artifacts: object[] };
    expect(notes.artifacts).toContainEqual(expect.objectContaining({ kind: 'edge list' }));
    const check = ['datasets', 'check', dataset, '--run', run(task), '--split', 'valid'];
    const { out } = await kgwalk(...check, '--json');
    const { artifacts } = JSON.parse(out) as { artifacts: { of: string; kind: string }[] };
    const own = artifacts.filter(({ of }) => of === basename(folder));
    expect(own.map(({ kind }) => kind)).toContain('edge list');
  });

  test('an evaluation without a run is checked by itself', async () => {
    const { saved } = await evaluated(task, agent, dataset, '--evaluations', folderWith({}));
    const split = task === 'questions' ? 'valid' : 'test';
    const words = ['datasets', 'check', dataset, '--run', dirname(saved), '--split', split];
    const { exitCode, out, err } = await kgwalk(...words);
    expect([exitCode, err]).toEqual([0, '']);
    expect(out).toMatch(new RegExp(`^evaluation of ${agent} · ${dataset}.* what does it know of split ${split}`));
    expect(out).toMatch(/edge list +graph \w+ /);
    const elsewhere = await kgwalk(
      'datasets',
      'check',
      tasks.find(([, , name]) => name !== dataset)![2],
      ...words.slice(3),
    );
    expect(elsewhere.exitCode).toBe(2);
    rmSync(evaluationFiles(dirname(saved)).provenance);
    expect((await kgwalk(...words)).exitCode).toBe(3);
  });

  test('--backend and --beam-width apply to runs, and are refused for agents without a beam', async () => {
    const root = ['--evaluations', folderWith({})];
    const width = task === 'dialogues' ? '25' : '3';
    const words = [run(task), '--backend', 'simd', ...root];
    const wide = await kgwalkJson<Saved>('evaluate', ...words, '--beam-width', width);
    expect(wide).toMatchObject({ beamWidth: Number(width), n: expect.any(Number) });
    // What decides the result decides the folder, too.
    expect((await kgwalkJson<Saved>('evaluate', ...words)).saved).not.toBe(wide.saved);
    expect(await kgwalkJson('replay', dirname(wide.saved))).toMatchObject({ identical: true });
    if (task === 'dialogues') return;
    for (const flag of [
      ['--beam-width', '3'],
      ['--backend', 'simd'],
    ]) {
      const refused = await kgwalk('evaluate', '--agent', agent, '--dataset', dataset, ...flag);
      const message = new RegExp(`expected a run( that draws walks)? with ${flag[0]}`);
      expect([refused.exitCode, refused.err]).toEqual([2, expect.stringMatching(message)]);
    }
  });
});

test('prompts on dialogues ask no call twice after a kill, and are replayed without a model', async () => {
  const root = folderWith({});
  const ask = async () => {
    const server = await chatServer(says('Ada Quill, made_by, Glass Harbor'));
    // The port differs from server to server, so does the name of the model, and with it the folder.
    const model = `${server.url}#tiny`;
    const words = ['--agent', 'ark-standard', '--model', model, '--evaluations', root];
    return { server, model, words };
  };
  const { server, words } = await ask();
  const first = await evaluate(...words);
  const folder = dirname(first.saved);
  const files = evaluationFiles(folder);
  const whole = bytesOf(folder);
  const asked = server.calls.length;
  expect(asked).toBeGreaterThan(0);
  expect(first.cost.calls!.total).toBe(asked);
  const lines = readFileSync(files.completions, 'utf8').split('\n');
  const last = lines.findLastIndex((line) => line.includes('"line":"completion"'));
  for (const name of ['answers', 'rows', 'evaluation', 'provenance'] as const) rmSync(files[name]);
  writeFileSync(files.completions, lines.slice(0, last).join('\n') + '\n');
  await evaluate(...words);
  expect(server.calls).toHaveLength(asked + 1);
  expect(bytesOf(folder)).toEqual(whole);
  await server.close();
  expect(await kgwalkJson('replay', folder)).toMatchObject({ identical: true, n: first.n });
});

test('an evaluation of links alone is checked like one of questions; a leak into its agent is found', async () => {
  const { saved } = await onLinks('--agent', 'rules', '--split', 'valid', '--evaluations', folderWith({}));
  const folder = dirname(saved);
  const check = (...words: string[]) => kgwalk('datasets', 'check', 'tiny', '--run', folder, ...words);
  const clean = await check('--split', 'test');
  expect([clean.exitCode, clean.out]).toEqual([0, expect.stringMatching(/frequency table +rules +train +none found/)]);
  expect((await check()).out).toMatch(/choice +how rules are taken together +valid +allowed/);
  const { provenance, evaluation } = evaluationFiles(folder);
  writeFileSync(provenance, readFileSync(provenance, 'utf8').replace('"split": "train"', '"split": "test"'));
  sealEvaluation(folder, readFileSync(evaluation, 'utf8'));
  const { exitCode, err } = await check('--split', 'test');
  expect([exitCode, err]).toEqual([3, expect.stringContaining('frequency table "rules": made from test')]);
  rmSync(provenance);
  const silent = await check('--split', 'test');
  expect([silent.exitCode, silent.err]).toEqual([3, expect.stringContaining('got none of rules')]);
});
