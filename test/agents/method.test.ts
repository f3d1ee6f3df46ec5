/** Methods: the one that CONTRIBUTING.md adds by a folder and a line is trained, resumed, evaluated, asked and reported as every other. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Method, MethodRegistry } from '../../agents/method.js';
import { questionMethods } from '../../agents/question-agents.js';
import { settingsSchema } from '../../agents/train-settings.js';
import { readIndex } from '../../checkpoints/store.js';
import { loadPreset } from '../../presets/index.js';
import { readMetrics } from '../../src/run/metric-log.js';
import { loadPlugin, train } from '../../tasks/library.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { runHashes } from '../fixtures/tiny-training.js';
import { importFilms } from '../fixtures/toy-question-training.js';
import { examplesOf } from '../docs/examples.js';
import { overSources } from '../docs/typescript-examples.js';

const [code, settings] = examplesOf('CONTRIBUTING.md').filter(({ heading }) => heading === 'A trained method');
const folder = folderWith({ 'by-word.mjs': overSources(code!.text) });
const plugin = join(folder, 'by-word.mjs');
const preset = join(folder, 'by-word.yaml');
writeFileSync(preset, settings!.text.replace('demo-questions', 'films'));

const home = useSharedHome(async () => {
  await importFilms();
  await loadPlugin(plugin);
});
const run = () => join(home(), 'by-word');

test('is trained, logged, judged and saved', async () => {
  await train({ settings: loadPreset(preset), folder: run() });
  const figures = readMetrics(join(run(), 'metrics.jsonl')).map(({ phase, metrics }) => [
    phase,
    Object.keys(metrics)[0],
  ]);
  expect(figures).toEqual(
    Array.from({ length: 5 }, () => [
      ['fit', 'train/loss'],
      ['fit', 'eval/hit@1'],
    ]).flat(),
  );
  expect(readIndex(run()).best!.metrics['eval/hit@1']).toBeGreaterThan(0.9);
});

test('stopped and resumed leaves the bytes of a run that was not', async () => {
  const other = join(home(), 'stopped');
  const stop = new AbortController();
  const options = { settings: loadPreset(preset), folder: other };
  const stopped = train({ ...options, signal: stop.signal, onMetrics: ({ step }) => step === 2 && stop.abort() });
  await expect(stopped).rejects.toMatchObject({ code: 'stopped' });
  expect(readIndex(other).last!.step).toBe(2);
  await train({ ...options, resume: 'last' });
  const weights = (of: string) => Object.entries(runHashes(of)).filter(([file]) => !file.includes('evaluations'));
  expect(weights(other)).toEqual(weights(run()));
});

test('is evaluated with agents, asked and reported', async () => {
  const words = ['--dataset', 'films/1-hop', '--split', 'valid', '--plugin', plugin];
  const names = [run(), 'random-chain'];
  const { agents } = await kgwalkJson<{ agents: { metrics: { 'hit@1': { value: number } } }[] }>(
    'compare',
    ...names,
    ...words,
  );
  const [own, random] = agents.map(({ metrics }) => metrics['hit@1'].value);
  expect(own).toBe(readIndex(run()).best!.metrics['eval/hit@1']);
  expect(own).toBeGreaterThan(random!);
  const asked = await kgwalk('ask', run(), 'who directed [tenet]?', '--plugin', plugin);
  expect([asked.exitCode, asked.out]).toEqual([0, expect.stringContaining('stepped')]);
  expect((await kgwalk('report', run(), '--to', join(home(), 'report'))).exitCode).toBe(0);
  expect(existsSync(join(home(), 'report', 'index.html'))).toBe(true);
});

test('brings its section: known, checked, and refused where nothing reads it', async () => {
  expect(settingsSchema().shape).toHaveProperty('byWord');
  expect(() => loadPreset(preset, ['byWord.passes=0'])).toThrow('byWord.passes: expected an integer in [1');
  expect(() => loadPreset('umls-walk', ['byWord.pases=1'])).toThrow('did you mean byWord.passes?');
  const elsewhere = train({ settings: loadPreset('umls-walk', ['byWord.passes=1']), folder: join(home(), 'none') });
  await expect(elsewhere).rejects.toThrow('expected no section byWord with env.id=kgwalk/LinkQuery-v1');
  const twice = train({ settings: loadPreset(preset, ['reader.kind=nsm']), folder: join(home(), 'none') });
  await expect(twice).rejects.toThrow('expected no section');
  expect(existsSync(join(home(), 'none'))).toBe(false);
});

test('has its own name and section', () => {
  const method = { section: 'byWord', settings: z.object({}) } as unknown as Method;
  const registry = questionMethods as unknown as MethodRegistry<never, never, unknown>;
  expect(() => registry.register('nsm', method)).toThrow('got the name of another');
  expect(() => registry.register('mine', { ...method, section: undefined } as never)).toThrow('got none');
  expect(() => registry.register('mine', method)).toThrow('"byWord", which is one');
  expect(() => registry.register('mine', { ...method, section: 'ppo' } as never)).toThrow('"ppo", which is one');
  expect(registry.names()).toEqual(expect.arrayContaining(['relation-walker', 'nsm', 'by-word']));
});
