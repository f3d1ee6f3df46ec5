/** Commands on a full disk: a file system of some megabytes. */
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { readIndex } from '../../checkpoints/store.js';
import { openEncoderCache } from '../../src/encoder/encoder-cache.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { tally } from '../fixtures/long-tests.js';
import { smallDisk } from '../fixtures/small-disk.js';
import { tinyLlama } from '../fixtures/tiny-llama.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, tinyOverrides } from '../fixtures/tiny-training.js';
import { importFilms } from '../fixtures/toy-question-training.js';

const home = folderWith({});
const disk = smallDisk(4);
const small = disk.folder;

beforeAll(async () => {
  env.KGWALK_HOME = home;
  await kgwalk('datasets', 'import', 'opendialkg', '--from', folderWith(releaseFiles));
  await importFilms();
});

afterEach(() => {
  env.KGWALK_HOME = home;
  disk.empty();
  for (const name of readdirSync(small)) rmSync(join(small, name), { recursive: true });
  tally('faults injected');
});

disk.describe('without space', () => {
  const files = (folder: string) => readdirSync(folder, { recursive: true }) as string[];
  const tiny = ['train', 'opendialkg-tiny', ...tinyOverrides.flatMap((one) => ['--set', one])];
  const leftovers = (folder: string) => files(folder).filter((name) => /\.tmp$|\.lock/.test(name));

  async function expectFull(...words: string[]): Promise<void> {
    const { exitCode, err } = await kgwalk(...words);
    expect([exitCode, err]).toEqual([1, expect.stringMatching(/no space left at [^]*hint: Free some space/)]);
  }

  test('training reports it, leaves nothing half-written, and resumes when there is space again', async () => {
    const whole = join(home, 'whole');
    await kgwalkJson(...tiny, '--run-dir', whole);
    const folder = join(small, 'run');
    // The embeddings and the first checkpoint fit, the second one does not.
    const bytes = (name: string) => statSync(join(whole, name)).size;
    const embeddings = readdirSync(join(whole, 'embeddings')).reduce(
      (sum, name) => sum + bytes(`embeddings/${name}`),
      0,
    );
    disk.fill(Math.ceil((embeddings + 1.5 * bytes('checkpoints/clone-000006.safetensors')) / 1024));
    await expectFull(...tiny, '--run-dir', folder);
    expect(readIndex(folder).last!.name).toBe('clone-000003');
    expect(leftovers(folder)).toEqual([]);
    disk.empty();
    expect((await kgwalk('train', '--resume', '--run-dir', folder)).exitCode).toBe(0);
    expect(runHashes(folder)).toEqual(runHashes(whole));
  });

  test('an import says so and leaves the old data set', async () => {
    env.KGWALK_HOME = join(small, 'home');
    const words = ['datasets', 'import', 'opendialkg', '--from', folderWith(releaseFiles)];
    await kgwalk(...words);
    const before = files(env.KGWALK_HOME);
    disk.fill(2);
    await expectFull(...words);
    expect(files(env.KGWALK_HOME)).toEqual(before);
  });

  test('an evaluation of questions ends rather than counting misses, and resumes when there is space again', async () => {
    const words = (root: string) => [
      ...['evaluate', '--agent', 'fiske', '--model', 'oracle:0.2', '--dataset', 'films', '--split', 'train'],
      ...['--evaluations', root],
    ];
    const result = (root: string) => readFileSync(join(root, readdirSync(root)[0]!, 'evaluation.json'));
    const [whole, root] = [folderWith({}), join(small, 'evaluations')];
    expect((await kgwalk(...words(whole))).exitCode).toBe(0);
    // So that the first completions fit.
    disk.fill(64);
    await expectFull(...words(root));
    const [name] = readdirSync(root);
    expect(files(root)).not.toContain(join(name!, 'evaluation.json'));
    expect(statSync(join(root, name!, 'completions.jsonl')).size).toBeGreaterThan(0);
    expect(leftovers(root)).toEqual([]);
    disk.empty();
    expect((await kgwalk(...words(root))).exitCode).toBe(0);
    expect(result(root)).toEqual(result(whole));
  });

  test('predictions, a report, a checkpoint to share and embeddings say so, and leave nothing half-written', async () => {
    const run = join(small, 'run');
    await kgwalkJson(...tiny, '--run-dir', join(home, 'shown'));
    cpSync(join(home, 'shown'), run, { recursive: true });
    const before = files(run).sort();
    disk.fill(1);
    await expectFull('evaluate', run, '--split', 'valid', '--predictions', join(small, 'predictions.jsonl'));
    await expectFull('report', run);
    await expectFull('checkpoint', 'export', run, '--to', join(small, 'weights.safetensors'));
    expect(files(run).sort()).toEqual([...before, 'report'].sort());
    env.KGWALK_HOME = join(small, 'home');
    disk.empty();
    cpSync(join(home, 'datasets'), join(env.KGWALK_HOME, 'datasets'), { recursive: true });
    disk.fill(1);
    await expectFull('pretrain', 'opendialkg', '--set', 'transe.dim=64', '--set', 'transe.epochs=2');
    expect(files(join(env.KGWALK_HOME, 'embeddings')).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  test('vectors that found no space are kept by the next commit that finds some', async () => {
    const cache = await openEncoderCache(join(small, 'cache'));
    const store = cache.space({ encoder: 'a', name: 'a', mode: 'cpu', dim: 2 });
    store.write('who?', '96', Float32Array.of(1, 2), 7);
    disk.fill(100);
    await expect(store.commit()).rejects.toMatchObject({
      message: expect.stringContaining('no space left'),
      fatal: true,
    });
    disk.empty();
    await store.commit();
    expect(store.read('who?', '96', new Float32Array(2))).toBe(7);
    await cache.close();
  });

  test('no space for the cache of text vectors ends the run, which resumes when there is space again', async () => {
    const { path } = await tinyLlama();
    const words = (folder: string) => [...tiny, '--model', path, '--run-dir', folder];
    const [whole, folder] = [join(folderWith({}), 'run'), join(folderWith({}), 'run')];
    await kgwalkJson(...words(whole));
    env.KGWALK_HOME = join(small, 'home');
    cpSync(join(home, 'datasets'), join(env.KGWALK_HOME, 'datasets'), { recursive: true });
    cpSync(join(home, 'embeddings'), join(env.KGWALK_HOME, 'embeddings'), { recursive: true });
    // Far too little, and less than a database needs to grow.
    for (const free of [20, 900]) {
      disk.fill(free);
      await expectFull(...words(folder));
    }
    disk.empty();
    expect((await kgwalk(...words(folder), '--resume')).exitCode).toBe(0);
    expect(runHashes(folder)).toEqual(runHashes(whole));
  });
});
