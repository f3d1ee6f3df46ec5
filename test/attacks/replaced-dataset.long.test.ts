/** A data set that is replaced by a process that is killed at every change of the disk: a reader finds the old one or the new one, whole. */
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { env, execPath } from 'node:process';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  importedNames,
  jsonLines,
  openImported,
  readImportedLines,
  writeDataset,
} from '../../datasets/imported-dataset.js';
import { writeFileAtomic } from '../../src/run/files.js';
import { tally } from '../fixtures/long-tests.js';
import { folderWith } from '../fixtures/tiny-release.js';

/** Writes the data set, and ends itself as by `kill -9` at the change of the disk of that number: half of what removes a folder is done. */
const writer = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const [modules, home, label, killAt] = process.argv.slice(2);
let changes = 0;
const changing = (name, [path, flags = 'r']) => name !== 'openSync' || /[wa+]/.test(flags);
for (const name of ['writeFileSync', 'writeSync', 'renameSync', 'rmSync', 'mkdirSync', 'linkSync', 'openSync']) {
  const plain = fs[name];
  fs[name] = (...of) => {
    if (!changing(name, of)) return plain(...of);
    if (++changes === Number(killAt)) {
      const parts = name === 'rmSync' && fs.existsSync(of[0]) && fs.statSync(of[0]).isDirectory() ? fs.readdirSync(of[0]) : [];
      if (parts.length > 0) fs.unlinkSync(of[0] + '/' + parts[0]);
      process.kill(process.pid, 'SIGKILL');
    }
    return plain(...of);
  };
}
syncBuiltinESMExports();
const { jsonLines, writeDataset } = await import(modules + '/datasets/imported-dataset.js');
const { writeFileAtomic } = await import(modules + '/src/run/files.js');
const fill = (folder) => {
  for (const file of ['a.jsonl', 'b.jsonl']) writeFileAtomic(folder + '/' + file, jsonLines([label]));
};
await writeDataset('tiny', home, fill, async (files) => ({ kind: 'links', label, files }));
`;
const manifest = z.object({ kind: z.string(), label: z.string(), files: z.record(z.string(), z.string()) });

async function write(home: string, label: string): Promise<void> {
  const fill = (folder: string) => {
    for (const file of ['a.jsonl', 'b.jsonl']) writeFileAtomic(join(folder, file), jsonLines([label]));
  };
  await writeDataset('tiny', home, fill, async (files) => ({ kind: 'links', label, files }));
}

/** Which data set there is, all of it read. */
function found(home: string): string {
  expect(importedNames({ home })).toEqual(['tiny']);
  const { folder, manifest: about } = openImported('tiny', 'links', manifest, { home });
  const lines = ['a.jsonl', 'b.jsonl'].flatMap((file) => readImportedLines(folder, file, about.files, z.string()));
  expect(new Set([about.label, ...lines]).size).toBe(1);
  return about.label;
}

test('killed anywhere, the old one or the new one is there, and the next import leaves nothing else', async () => {
  const program = join(folderWith({ 'writer.mjs': writer }), 'writer.mjs');
  const home = folderWith({});
  const seen: string[] = [];
  for (let killAt = 1; ; killAt++) {
    rmSync(join(home, 'datasets'), { recursive: true, force: true });
    await write(home, 'old');
    const words = [program, resolve('dist'), home, 'new', String(killAt)];
    const { signal, stderr } = spawnSync(execPath, words, { env, encoding: 'utf8' });
    expect(stderr).toBe('');
    seen.push(found(home));
    await write(home, 'newer');
    expect(found(home)).toBe('newer');
    expect(readdirSync(join(home, 'datasets'))).toEqual(['tiny']);
    if (signal === null) break;
    expect(signal).toBe('SIGKILL');
    tally('moments killed');
  }
  // First the old one, from some moment on the new one.
  expect(seen.length).toBeGreaterThan(20);
  expect(seen).toEqual([...seen].sort().reverse());
  expect(seen.at(-1)).toBe('new');
  rmSync(home, { recursive: true });
});
