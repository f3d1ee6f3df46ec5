/** The main job on a made-up release, command by command, as a user would do it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { useBlankPictures } from '../fixtures/blank-pictures.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { csvOf, folderWith, longDialogue, releaseFiles, shortDialogue } from '../fixtures/tiny-release.js';
import { evaluationOf, runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

useBlankPictures();
const released = useSharedHome(() => kgwalk('datasets', 'import', 'opendialkg', '--from', folderWith(releaseFiles)));
let home: string;
let runs: string[];
const set = (...overrides: string[]) => [...tinyOverrides.slice(1), ...overrides].flatMap((one) => ['--set', one]);
const tiny = ['train', 'opendialkg-tiny', '--model', 'hashed:32', ...set()];

beforeAll(async () => {
  home = released();
  const trained = await kgwalkJson<{ runs: string[] }>(...tiny, '--seeds', '1,2', '--run-dir', join(home, 'tiny'));
  runs = trained.runs;
});

describe('kgwalk train', () => {
  test('makes a run for each seed, in folders named after them', () => {
    expect(runs).toEqual([join(home, 'tiny-s1'), join(home, 'tiny-s2')]);
    expect(runHashes(runs[0]!)).not.toEqual(runHashes(runs[1]!));
  });

  test('--resume of a missing folder starts a new run, and says what to do next', async () => {
    const folder = join(home, 'said');
    const { exitCode, out, err } = await kgwalk(...tiny, '--seed', '1', '--resume', '--run-dir', folder);
    expect([exitCode, out]).toEqual([0, `${folder}\n`]);
    expect(err).toContain(`kgwalk evaluate ${folder} --split valid`);
    expect(runHashes(folder)).toEqual(runHashes(runs[0]!));
  });

  test('on a finished run says so and leaves it alone', async () => {
    const before = runHashes(runs[0]!);
    const { exitCode, err } = await kgwalk('train', '--resume', '--run-dir', runs[0]!);
    expect([exitCode, err]).toEqual([0, expect.stringContaining('is finished; nothing to do')]);
    expect(runHashes(runs[0]!)).toEqual(before);
  });

  test('stops after the given minutes; resumed, with no other settings, the run equals one that never stopped', async () => {
    const folder = join(home, 'short');
    const stopped = await kgwalk(...tiny, '--seeds', '1,2', '--run-dir', folder, '--max-minutes', '0.00001');
    expect(stopped.exitCode).toBe(130);
    expect(stopped.err).toContain(`stopped; everything so far is saved, at ${folder}-s1; not started: seed 2`);
    expect(stopped.err).toContain(`hint: Resume: kgwalk train --resume --run-dir ${folder}-s1`);
    const resume = ['train', '--resume', '--run-dir', `${folder}-s1`];
    const other = await kgwalk(...resume, '--set', 'ppo.gamma=0.9');
    expect([other.exitCode, other.err]).toEqual([2, expect.stringContaining('ppo.gamma: 1 in the run, 0.9 asked for')]);
    expect((await kgwalk(...resume)).exitCode).toBe(0);
    expect(runHashes(`${folder}-s1`)).toEqual(runHashes(runs[0]!));
  });

  test.each([
    [['--resume'], 2, 'expected --run-dir with --resume'],
    [['--seed', '1', '--seeds', '1,2'], 2, 'expected --seed or --seeds, got both'],
    [['--seeds', '1,1'], 2, 'expected different seeds'],
    [['--seed', '1.5'], 2, 'expected whole numbers from 0, got "1.5", at --seed'],
    [['--max-minutes', 'soon'], 2, 'expected a number above 0, got "soon", at --max-minutes'],
    [['--set', 'ppo.clipRang=0.1'], 2, 'unknown key ppo.clipRang; did you mean ppo.clipRange?'],
    [['--set', 'ppo.clipRange=-1'], 2, 'ppo.clipRange: expected'],
    [['--set', 'ppo.init=scratch', '--dry-run'], 2, 'expected ppo.klCoef=0'],
    [['--set', 'clone.enabled=false'], 2, 'expected a clone to start from'],
    [['--backend', 'abacus'], 2, 'backend'],
    [['--model', 'gone.gguf'], 3, 'gone.gguf'],
    [['--set', 'data.dataset=nowhere'], 3, 'expected an imported data set'],
  ])('refuses %j with exit code %i', async (words, code, message) => {
    const dir = words.includes('--resume') ? [] : ['--run-dir', join(home, 'refused')];
    const { exitCode, err, out } = await kgwalk(...tiny, ...words, ...dir);
    expect([exitCode, out]).toEqual([code, '']);
    expect(err).toContain(message);
    expect(existsSync(join(home, 'refused'))).toBe(false);
  });

  test('refuses a model that nothing has, and a preset that is not there', async () => {
    const without = await kgwalk('train', 'opendialkg-tiny', '--model', 'dem', '--run-dir', join(home, 'refused'));
    expect([without.exitCode, without.err]).toEqual([2, expect.stringContaining('Did you mean "demo"?')]);
    const other = await kgwalk('train', 'opendialgk', '--model', 'hashed:32');
    expect([other.exitCode, other.err]).toEqual([2, expect.stringContaining('opendialkg, opendialkg-better')]);
  });

  test('refuses folders that hold runs before it trains for the first seed', async () => {
    const folder = join(home, 'tiny');
    const { exitCode, err } = await kgwalk(...tiny, '--seeds', '3,2', '--run-dir', folder);
    expect([exitCode, err]).toEqual([2, expect.stringContaining(`got one that holds a run, at ${folder}-s2`)]);
    expect(existsSync(`${folder}-s3`)).toBe(false);
  });
});

describe('kgwalk evaluate and compare', () => {
  test('find what training found', async () => {
    const record = await kgwalkJson<EvaluationRecord & { saved: string }>('evaluate', runs[0]!);
    expect(record).toMatchObject({ split: 'valid', checkpoint: 'best', n: 2, seed: 1, beamWidth: 30 });
    const file = join(evaluationOf(runs[0]!, 'valid-best'), 'evaluation.json');
    const kept = JSON.parse(readFileSync(file, 'utf8')) as EvaluationRecord;
    expect(kept.metrics).toEqual(record.metrics);
    expect(record.saved).toBe(file);
  });

  test('take checkpoints by name and dialogues of a file, and write predictions', async () => {
    const folder = folderWith({ 'mine.csv': csvOf([longDialogue, shortDialogue]) });
    const predictions = join(folder, 'out.csv');
    const data = ['--data', join(folder, 'mine.csv'), '--checkpoint', 'clone', '--predictions', predictions];
    const record = await kgwalkJson<EvaluationRecord>('evaluate', runs[0]!, ...data);
    expect(record).toMatchObject({ split: 'mine.csv', checkpoint: 'clone', n: 3 });
    expect(readFileSync(predictions, 'utf8')).toContain('Paper Moons');
  });

  test('list runs next to the baselines', async () => {
    const { agents } = await kgwalkJson<{ agents: { name: string; record: EvaluationRecord }[] }>(
      ...['compare', 'random', 'frequency', ...runs],
    );
    expect(agents.map(({ name }) => name)).toEqual(['random', 'frequency', ...runs]);
  });

  test('list two checkpoints of a run next to each other', async () => {
    const { agents } = await kgwalkJson<{ agents: { checkpoint: string }[] }>(
      ...['compare', `${runs[0]!}@clone`, `${runs[0]!}@last`, '--backend', 'wasm'],
    );
    expect(agents.map(({ checkpoint }) => checkpoint)).toEqual(['clone', 'last']);
  });

  test.each([
    [['--checkpoint', '99'], 3, 'expected checkpoint "99", got only'],
    [['--graph', 'wide'], 2, 'expected the graph of run tiny-s1, which is dialogue, got wide'],
    [['--encoder', 'hashed:64'], 3, 'expected a checkpoint of encoder hashed:64'],
    [['--encoder', 'gone.gguf'], 3, 'gone.gguf'],
  ])('refuse %j with exit code %i', async (words, code, message) => {
    const { exitCode, err } = await kgwalk('evaluate', runs[0]!, ...words);
    expect([exitCode, err]).toEqual([code, expect.stringContaining(message)]);
    expect(err).toContain('hint: ');
  });

  test('refuse a run whose data set was replaced by another', async () => {
    const folder = join(home, 'replaced');
    const few = ['data.dataset=own', 'transe.enabled=false', 'clone.epochs=1', 'ppo.enabled=false'];
    const own = few.flatMap((one) => ['--set', one]);
    const importOwn = (files: Record<string, string>) =>
      kgwalk('datasets', 'import', 'opendialkg', '--from', folderWith(files), '--name', 'own');
    await importOwn(releaseFiles);
    await kgwalkJson(...tiny, ...own, '--run-dir', folder);
    await importOwn({ ...releaseFiles, 'train.csv': csvOf([longDialogue]) });
    const { exitCode, err } = await kgwalk('evaluate', folder);
    expect([exitCode, err]).toEqual([3, expect.stringContaining('expected a checkpoint of dataset')]);
    await importOwn({ ...releaseFiles, 'opendialkg_triples.txt': releaseFiles['opendialkg_triples_wide.txt'] });
    expect((await kgwalk('evaluate', folder)).err).toContain('expected a checkpoint of graph');
  });
});

describe('kgwalk ask', () => {
  const question = 'Where was she born?';
  type Asked = { start: string; paths: { path: string[][]; probability: number }[]; answers: { entity: string }[] };

  test('ranks walks with probabilities', async () => {
    const { start, paths, answers } = await kgwalkJson<Asked>('ask', runs[0]!, question, '--start', 'ada quill');
    expect(start).toBe('Ada Quill');
    expect(paths[0]!.path[0]![0]).toBe('Ada Quill');
    const probabilities = paths.map(({ probability }) => probability);
    expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a));
    expect(probabilities.reduce((sum, p) => sum + p, 0)).toBeLessThanOrEqual(1 + 1e-6);
    expect(answers.map(({ entity }) => entity)).toContain('Lund');
    const top = await kgwalk('ask', runs[0]!, question, '--start', 'Ada Quill', '--top', '2');
    expect(top.out).toMatch(
      /^question: .*\ntopic: Ada Quill\n\nrank +answer +probability\n( +\d .* 0\.\d{4}\n){2}\nwhere from\n +1 +Ada Quill —.*\n +2 .*\n\nanswered by run /,
    );
  });

  test('listens to what was said and walked before', async () => {
    const dialogue = folderWith({ 'said.json': JSON.stringify(longDialogue), 'two.json': JSON.stringify([[], []]) });
    const ask = (...words: string[]) => kgwalkJson<Asked>('ask', runs[0]!, question, '--start', 'Ada Quill', ...words);
    const after = await ask('--dialogue', join(dialogue, 'said.json'));
    expect(after.paths[0]!.probability).not.toBe((await ask()).paths[0]!.probability);
    const two = await kgwalk('ask', runs[0]!, question, '--start', 'Lund', '--dialogue', join(dialogue, 'two.json'));
    expect([two.exitCode, two.err]).toEqual([3, expect.stringContaining('expected one dialogue, got 2')]);
  });

  test('names the nearest entity, and what else is wrong', async () => {
    const near = await kgwalk('ask', runs[0]!, question, '--start', 'Ada Quil');
    expect([near.exitCode, near.err]).toEqual([2, expect.stringContaining('Did you mean "Ada Quill"?')]);
    const top = await kgwalk('ask', runs[0]!, question, '--start', 'Lund', '--top', '0');
    expect([top.exitCode, top.err]).toEqual([2, expect.stringContaining('at --top')]);
    const run = await kgwalk('ask', join(home, 'nothing'), question, '--start', 'Lund');
    expect(run.exitCode).toBe(3);
    expect((await kgwalk('ask', runs[0]!, question)).exitCode).toBe(2);
  });
});

describe('what a run leaves', () => {
  test('is listed, and its metrics come as CSV', async () => {
    const rows = await kgwalkJson<{ run: string; status: string; seed: number }[]>('runs', 'list', home);
    expect(rows.filter(({ run }) => run.startsWith('tiny-'))).toMatchObject([
      { run: 'tiny-s1', status: 'finished', seed: 1 },
      { run: 'tiny-s2', status: 'finished', seed: 2 },
    ]);
    const csv = join(home, 'metrics.csv');
    await kgwalk('runs', 'export', runs[0]!, '--csv', csv);
    expect(readFileSync(csv, 'utf8')).toMatch(/^phase,step,key,value\ntranse,1,train\//);
  });

  test('has checkpoints to look at and to take away', async () => {
    expect((await kgwalk('checkpoint', 'list', runs[0]!)).out).toMatch(/ppo-000004 .*last/);
    const shown = await kgwalkJson<{ header: { step: number } }>('checkpoint', 'show', runs[0]!, 'last');
    expect(shown.header.step).toBe(4);
    const exported = join(home, 'walker.safetensors');
    await kgwalkJson('checkpoint', 'export', runs[0]!, '--to', exported);
    expect(existsSync(exported)).toBe(true);
  });

  test('becomes a page of curves over seeds', async () => {
    const { exitCode, out } = await kgwalk('report', ...runs);
    expect([exitCode, out.trim()]).toEqual([0, join(home, 'report-tiny-s1-tiny-s2/index.html')]);
    expect(readFileSync(out.trim(), 'utf8')).toContain('<html');
  });
});
