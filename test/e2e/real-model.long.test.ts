/** The main job with a real model, on the made-up release: what a moved, missing or broken model file does. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import type { TimingRecord } from '../../src/run/records.js';
import { readTimings } from '../../src/run/metric-log.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, tinyOverrides } from '../fixtures/tiny-training.js';

const source = join(env.KGWALK_TEST_DATA ?? 'nowhere', 'models/stories260K.f32.gguf');
if (!existsSync(source)) console.warn('skipped: a real model; set KGWALK_TEST_DATA to a folder with models/');

(existsSync(source) ? describe : describe.skip)('a run over a real model', () => {
  const home = folderWith({});
  const [first, moved] = [join(home, 'a/stories.gguf'), join(home, 'b/stories.gguf')];
  const run = join(home, 'run');
  const set = [...tinyOverrides.slice(1), 'transe.enabled=false'].flatMap((one) => ['--set', one]);
  const tiny = ['train', 'opendialkg-tiny', ...set];
  const encoding = (folder: string): TimingRecord =>
    readTimings(join(folder, 'timing.jsonl')).findLast(({ phase }) => phase === 'encode')!;
  let trained: EvaluationRecord;

  beforeAll(async () => {
    env.KGWALK_HOME = home;
    for (const file of [first, moved]) mkdirSync(join(file, '..'));
    copyFileSync(source, first);
    await kgwalk('datasets', 'import', 'opendialkg', '--from', folderWith(releaseFiles));
    await kgwalkJson(...tiny, '--model', first, '--run-dir', run);
    trained = await kgwalkJson<EvaluationRecord>('evaluate', run);
  });

  afterAll(() => rmSync(home, { recursive: true }));

  test('encodes each distinct text once, and none when it is run again', async () => {
    // Five entities...
    expect(encoding(run)['time/encodes']).toBe(12);
    const dry = await kgwalk(...tiny, '--model', first, '--dry-run');
    expect(dry.out).not.toContain('to encode');
    const again = join(home, 'again');
    await kgwalkJson(...tiny, '--model', first, '--run-dir', again);
    expect(encoding(again)['time/encodes']).toBe(0);
    // Evaluating the run once more found the folder that training had kept, and left the same bytes in it.
    expect(runHashes(again)).toEqual(runHashes(run));
  });

  test('whose model file is gone says how to name it', async () => {
    renameSync(first, moved);
    const gone = await kgwalk('evaluate', run);
    expect([gone.exitCode, gone.err]).toEqual([3, expect.stringContaining(first)]);
    expect(gone.err).toContain('--encoder');
    const record = await kgwalkJson<EvaluationRecord>('evaluate', run, '--encoder', moved);
    expect(record.metrics).toEqual(trained.metrics);
    const question = ['Who made it?', '--start', 'Glass Harbor'];
    expect((await kgwalk('ask', run, ...question)).err).toContain('--encoder');
    expect((await kgwalk('ask', run, ...question, '--encoder', moved)).out).toContain('Ada Quill');
  });

  test('resumes with the model at another path', async () => {
    const folder = join(home, 'going-on');
    await kgwalk(...tiny, '--model', moved, '--run-dir', folder, '--max-minutes', '0.00001');
    renameSync(moved, first);
    const { exitCode, err } = await kgwalk('train', '--resume', '--run-dir', folder, '--model', first);
    expect([exitCode, err]).toEqual([0, expect.any(String)]);
    expect(readFileSync(join(folder, 'config.yaml'), 'utf8')).toContain(moved);
    expect(readFileSync(join(folder, 'metrics.jsonl'))).toEqual(readFileSync(join(run, 'metrics.jsonl')));
  });

  test('is refused for a model that is cut short or is none, before its folder is made', async () => {
    const cut = join(home, 'cut.gguf');
    writeFileSync(cut, readFileSync(first).subarray(0, 500_000));
    writeFileSync(join(home, 'text.gguf'), 'hello');
    for (const [file, message] of [
      [cut, 'cut short'],
      [join(home, 'text.gguf'), 'GGUF'],
      [home, home],
    ] as const) {
      const { exitCode, err } = await kgwalk(...tiny, '--model', file, '--run-dir', join(home, 'refused'));
      expect([exitCode, err]).toEqual([3, expect.stringContaining(message)]);
      expect(err).toContain('hint: ');
      expect(existsSync(join(home, 'refused'))).toBe(false);
    }
  });
});
