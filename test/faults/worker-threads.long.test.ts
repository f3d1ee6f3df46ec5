/** Threads that fail, in a separate program over the built package: `npm test` builds it first. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { tally } from '../fixtures/long-tests.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { evaluationOf, tinyOverrides } from '../fixtures/tiny-training.js';

interface Plan {
  threads: number;
  jobs: { kind: string; value?: number }[];
  memoryMb?: number;
  abort?: boolean;
}

/** Outcome of each job, once the program has ended by itself. */
async function outcome(plan: Plan): Promise<unknown[]> {
  const child = spawn(execPath, ['test/fixtures/pool-program.mjs', JSON.stringify(plan)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => (out += String(text)));
  child.stderr.on('data', (text) => (err += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`exit ${code}: ${err}`);
  return JSON.parse(out) as unknown[];
}

const died = (message: string) => ({
  name: 'WorkbenchError',
  code: 'failure',
  message: `expected reaping to continue, got a thread that died: ${message}`,
  hint: 'Run it again, with --threads 1 if that happens again.',
});
const full = {
  name: 'WorkbenchError',
  code: 'failure',
  message: expect.stringMatching(/^expected enough memory for reaping, got: .*(out of memory|allocation failed)/),
  hint: 'Lower reaping.width.',
};

describe('a pool of threads', () => {
  test('gives every job its own result, in any order of completion', async () => {
    const jobs = [0, 1, 2, 3, 4, 5, 6].map((value) => ({ kind: 'slowly', value }));
    expect(await outcome({ threads: 3, jobs })).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('a job that throws fails alone, with its code and hint; a bug stays a bug', async () => {
    const jobs = [{ kind: 'refuse' }, { kind: 'square', value: 3 }, { kind: 'bug' }, { kind: 'square', value: 4 }];
    expect(await outcome({ threads: 2, jobs })).toEqual([
      { name: 'WorkbenchError', code: 'data', message: 'expected corn, got sand', hint: 'Sow again.' },
      9,
      { name: 'TypeError', message: 'no such field' },
      16,
    ]);
  });

  test('stops all threads when it is asked to, also those that sleep', async () => {
    const jobs = [{ kind: 'square', value: 5 }, { kind: 'sleep' }, { kind: 'never' }, { kind: 'square', value: 6 }];
    const stopped = { name: 'WorkbenchError', code: 'stopped', message: 'stopped by the user' };
    expect(await outcome({ threads: 3, jobs, abort: true })).toEqual([25, stopped, stopped, expect.anything()]);
  });

  // The jobs of the other threads are lost with it.
  test.each([
    ['ends the process', 'exit', died('it ended by itself with status 3')],
    ['rejects a promise that is not awaited', 'reject', died('never awaited')],
    ['throws out of the event loop', 'throw later', died('out of the blue')],
    ['fills its memory', 'eat', full],
  ])('a thread that %s fails the whole work, and the program ends', async (_, kind, error) => {
    const jobs = [{ kind }, { kind: 'sleep' }, { kind: 'square', value: 2 }];
    const ends = await outcome({ threads: 2, jobs, memoryMb: 16 });
    expect(ends).toEqual([error, error, error]);
    tally('faults injected');
  });

  test('a job that asks for more than there is fails with the setting to lower', async () => {
    const jobs = [{ kind: 'ask for a buffer' }, { kind: 'square', value: 2 }];
    expect(await outcome({ threads: 1, jobs })).toEqual([full, 4]);
    tally('faults injected');
  });
});

describe('a thread that dies', () => {
  const home = useSharedHome(() =>
    kgwalk('datasets', 'demo', '--entities', '300', '--dialogues', '60', '--questions', '0'),
  );
  const dying = { NODE_OPTIONS: `--import ${resolve('test/fixtures/dying-thread.mjs')}` };
  const tiny = ['opendialkg-tiny', ...['data.dataset=demo', ...tinyOverrides].flatMap((one) => ['--set', one])];
  /** By two threads, of which one dies. */
  const killed = (...words: string[]) =>
    spawnSync(execPath, ['dist/cli/main.js', ...words, '--threads', '2', '--json'], {
      env: { ...env, ...dying },
      encoding: 'utf8',
    });

  test('while TransE trains ends the program with one error, keeps nothing half-made, and blocks no later run', async () => {
    const words = ['pretrain', ...tiny, '--set', 'transe.batchSize=16'];
    const { status, stdout, stderr } = killed(...words);
    expect([status, stdout]).toEqual([1, '']);
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
    const message = 'expected training TransE to continue, got a thread that died: it ended by itself with status 3';
    expect(error).toMatchObject({ code: 'failure', message });
    expect(readdirSync(join(home(), 'embeddings'))).toEqual([]);
    expect(await kgwalkJson(...words)).toMatchObject({ reused: false });
    tally('faults injected');
  });

  test('while a walker is evaluated ends the program with one error: its samples do not become misses', async () => {
    const folder = join(home(), 'run');
    await kgwalkJson('train', ...tiny, '--run-dir', folder);
    const words = ['evaluate', folder, '--split', 'train'];
    const { status, stdout, stderr } = killed(...words);
    expect([status, stdout]).toEqual([1, '']);
    const message = 'expected the evaluation to continue, got a thread that died: it ended by itself with status 3';
    expect(stderr).toContain(message);
    // The rows so far are there to resume from, and no finished evaluation.
    const left = readdirSync(evaluationOf(folder, 'train-best'));
    expect(left.filter((name) => ['evaluation.json', 'answers.jsonl', 'rows.arrow'].includes(name))).toEqual([]);
    expect(await kgwalkJson(...words)).toMatchObject({ misses: { 'agent-failed': 0 } });
    tally('faults injected');
  });
});
