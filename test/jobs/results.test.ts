/** Results in a store: published once, taken whole, and partial results kept for resuming. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import {
  hasResult,
  heldBy,
  publish,
  putFolder,
  readFailure,
  removeProgress,
  saveFailure,
  saveProgress,
  takeFolder,
  takeProgress,
  takeResult,
} from '../../jobs/results.js';
import { openStore, type Store } from '../../jobs/store.js';
import { folderWith } from '../fixtures/tiny-release.js';

const job = { key: 'a'.repeat(64) };
let home: string;
let store: Store;
beforeEach(async () => {
  home = folderWith({});
  store = await openStore(join(home, 'store'));
});

function folderOf(files: Record<string, string>, name = 'made'): string {
  const folder = join(home, name);
  rmSync(folder, { recursive: true, force: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const filesIn = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file.slice(folder.length + 1), readFileSync(file, 'utf8')])
      .sort(),
  );

const made = { 'run/config.yaml': 'a: 1', 'run/timing.jsonl': '{"seconds":1}', 'run/checkpoints/index.json': '[]' };

test('a result is there once it is whole, without locks, drafts and logs, and is taken as it was', async () => {
  expect(await hasResult(store, job)).toBe(false);
  const folder = folderOf({
    ...made,
    'run/.lock': 'x',
    'logs/run.log': 'x',
    'run/report/index.html': 'x',
    'a.part': 'x',
  });
  expect(await publish(store, job, folder)).toEqual({ state: 'published' });
  expect(await hasResult(store, job)).toBe(true);
  expect(await takeResult(store, job, join(home, 'taken'))).toBe(true);
  expect(filesIn(join(home, 'taken'))).toEqual(made);
  expect(await takeResult(store, { key: 'b'.repeat(64) }, join(home, 'none'))).toBe(false);
});

test('who comes second with equal files is no one’s trouble: the clock may differ', async () => {
  await publish(store, job, folderOf(made));
  const later = folderOf({ ...made, 'run/timing.jsonl': '{"seconds":2}' });
  expect(await publish(store, job, later)).toEqual({ state: 'known' });
  expect((await heldBy(store)).rivals.size).toBe(0);
});

test('a second result with other files is reported, and both are kept', async () => {
  await publish(store, job, folderOf(made));
  const other = folderOf({ ...made, 'run/config.yaml': 'a: 2', 'run/more.json': '{}' });
  expect(await publish(store, job, other)).toEqual({
    state: 'failed',
    reason: expect.stringContaining('got another: run/config.yaml, run/more.json'),
  });
  expect([...(await heldBy(store)).rivals]).toEqual([job.key]);
  await takeResult(store, job, join(home, 'taken'));
  expect(filesIn(join(home, 'taken'))).toEqual(made);
});

test('what was done so far is taken up by others, and goes with the result', async () => {
  const kept = new Set<string>();
  await saveProgress(store, job, folderOf(made), kept);
  const further = { ...made, 'run/checkpoints/index.json': '[1]', 'run/checkpoints/1': 'weights' };
  await saveProgress(store, job, folderOf(further), kept);
  expect(await takeProgress(store, job, join(home, 'taken'))).toBe(true);
  expect(filesIn(join(home, 'taken'))).toEqual(further);
  expect([...(await heldBy(store)).progress]).toEqual([job.key]);
  // Files that nothing lists any more do not pile up.
  expect(await store.list(`progress/${job.key}/`)).toHaveLength(4);
  await removeProgress(store, job);
  expect(await store.list('progress/')).toEqual([]);
  expect(await takeProgress(store, job, join(home, 'none'))).toBe(false);
});

test('logs are copied last: they may be ahead of the checkpoint, never behind it', async () => {
  const put: string[] = [];
  const writeOnce: Store['writeOnce'] = (name, content) => {
    if (typeof content === 'object' && 'file' in content) put.push(basename(content.file));
    return store.writeOnce(name, content);
  };
  const run = { ...made, 'run/a.jsonl': 'log', 'run/checkpoints/1': 'weights', 'run/z.bin': 'z' };
  await saveProgress({ ...store, writeOnce }, job, folderOf(run), new Set());
  expect(put).toEqual(['1', 'index.json', 'config.yaml', 'z.bin', 'a.jsonl', 'timing.jsonl']);
});

test('a file that the store lost or altered is never taken for the one that was put', async () => {
  await publish(store, job, folderOf(made));
  const [object] = (await store.list('objects/')) as [string];
  await store.write(object, 'altered');
  await expect(takeResult(store, job, join(home, 'taken'))).rejects.toThrow('got another file');
  await store.remove(object);
  await expect(takeResult(store, job, join(home, 'taken'))).rejects.toThrow('got none');
});

test('an object that the store damaged is written again by the next worker that has it', async () => {
  await publish(store, job, folderOf(made));
  for (const object of await store.list('objects/')) await store.write(object, '');
  await store.remove(`results/${job.key}.json`);
  expect(await publish(store, job, folderOf(made))).toEqual({ state: 'published' });
  await takeResult(store, job, join(home, 'taken'));
  expect(filesIn(join(home, 'taken'))).toEqual(made);
});

test('progress of a run that saves meanwhile lists what its index names', async () => {
  const folder = folderOf({ 'run/checkpoints/index.json': '[1]', 'run/checkpoints/1': 'first' });
  // A writer that saves, drops what the index named before, and saves again: at most one of these between two reads.
  const at = join(folder, 'run', 'checkpoints');
  const saving = (async () => {
    for (let step = 2; step < 60; step++) {
      writeFileSync(join(at, String(step)), `weights ${step}`);
      writeFileSync(join(at, 'index.json'), `[${step}]`);
      rmSync(join(at, String(step - 1)));
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let i = 0; i < 10; i++) {
    await saveProgress(store, job, folder, new Set());
    const taken = join(home, `taken-${i}`);
    if (!(await takeProgress(store, job, taken))) continue;
    const [named] = JSON.parse(readFileSync(join(taken, 'run/checkpoints/index.json'), 'utf8')) as [number];
    expect(filesIn(taken)).toHaveProperty([`run/checkpoints/${named}`]);
  }
  await saving;
});

test('a list of files from elsewhere leads out of no folder', async () => {
  await publish(store, job, folderOf(made));
  const list = (await store.read(`results/${job.key}.json`))!;
  await store.write(`results/${job.key}.json`, list.replace('run/config.yaml', '../config.yaml'));
  await expect(takeResult(store, job, join(home, 'taken'))).rejects.toThrow('expected a name inside');
});

test('folders that jobs read lie under what they hold', async () => {
  const name = await putFolder(store, folderOf({ ...made, 'evaluations/x': 'x' }), /^evaluations\//);
  expect(await putFolder(store, folderOf(made), /^evaluations\//)).toBe(name);
  await takeFolder(store, name, join(home, 'taken'));
  expect(filesIn(join(home, 'taken'))).toEqual(made);
  await expect(takeFolder(store, 'c'.repeat(64), home)).rejects.toThrow('expected a folder that jobs read, got none');
});

test('why a job failed is kept', async () => {
  expect(await readFailure(store, job)).toBeUndefined();
  await saveFailure(store, job, 'no memory');
  expect(await readFailure(store, job)).toBe('no memory');
});
