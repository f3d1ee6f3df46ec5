/** SIGKILL on the built program at random moments of every phase of training: `npm test` builds it first. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import type { RunState } from '../../src/run/records.js';
import { runFiles } from '../../src/run/run-files.js';
import { openRun, runIn } from '../../src/run/run-folder.js';
import { Rng } from '../../src/run/seeds.js';
import { kgwalk } from '../fixtures/command-line.js';
import { often, tally } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { tinyLlama } from '../fixtures/tiny-llama.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { runHashes, tinyOverrides } from '../fixtures/tiny-training.js';
import { filmOverrides, importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();

/** Longest wait, in milliseconds, between a step that was drawn and the kill: about as long as a few steps take. */
const longestDelay = 25;

/** A phase whose steps can be seen from outside. */
interface SeenPhase {
  name: 'transe' | 'clone' | 'fit' | 'ppo';
  steps: number;
  kills: number;
}

/** Steps of a phase that a kill now would not lose. */
function keptSteps(folder: string, phase: SeenPhase['name']): number {
  if (phase !== 'transe') {
    const last = readIndex(folder).last;
    return last?.phase === phase ? last.step : 0;
  }
  const tables = join(env.KGWALK_HOME!, 'embeddings');
  const unfinished = (existsSync(tables) ? readdirSync(tables) : []).find((name) => /^\w+\.unfinished/.test(name));
  return unfinished === undefined ? 0 : readCheckpoint(join(tables, unfinished)).header.step;
}

/** True while the run is in this unfinished phase. Reads this file only, since it is polled. */
function isIn(folder: string, phase: SeenPhase['name']): boolean {
  const file = runFiles(folder).state;
  const state = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as RunState) : undefined;
  return state?.phase === phase && !state.done[phase];
}

/** Kills the program in a phase, some time after it has kept so many steps. @returns whether it died there */
async function killed(words: string[], folder: string, phase: SeenPhase['name'], steps: number, delay: number) {
  const child = spawn(execPath, ['dist/cli/main.js', ...words], { env, stdio: 'ignore' });
  const ended = once(child, 'close');
  const reached = () => isIn(folder, phase) && keptSteps(folder, phase) >= steps;
  while (child.exitCode === null && !reached()) await setTimeout(4);
  await setTimeout(delay);
  child.kill('SIGKILL');
  await ended;
  return child.signalCode === 'SIGKILL' && isIn(folder, phase);
}

/** Trains with a kill at each of the drawn moments, always resumed, and lets it finish at last. */
async function trainKilled(
  first: string[],
  folder: string,
  phases: readonly SeenPhase[],
  attempt: number,
): Promise<number[]> {
  const rng = Rng.named(phases[0]!.kills, 'killed-training', attempt);
  const resumed = ['train', '--resume', '--run-dir', folder];
  const died: number[] = [];
  for (const { name, steps, kills } of phases) {
    // In order, so that each kill lies beyond what the one before left; never so late that the phase may be over.
    const moments = Array.from({ length: kills }, () => rng.integer(Math.floor(0.9 * steps))).sort((a, b) => a - b);
    let count = 0;
    for (const moment of moments) {
      const words = runIn(folder) ? resumed : first;
      if (await killed(words, folder, name, moment, rng.integer(longestDelay))) count++;
      expect(openRun(folder).state.status).toBe('stopped');
      if (name === 'transe') expect(readIndex(folder).last).toBeUndefined();
    }
    died.push(count);
  }
  expect(await kgwalk(...resumed)).toMatchObject({ exitCode: 0 });
  return died;
}

/** Trains unbroken and killed, and compares every file that holds no clock. */
async function expectEqualEnds(preset: string, overrides: readonly string[], phases: readonly SeenPhase[]) {
  const whole = join(env.KGWALK_HOME!, 'whole');
  const set = overrides.flatMap((one) => ['--set', one]);
  const words = (folder: string) => ['train', preset, ...set, '--run-dir', folder];
  expect(await kgwalk(...words(whole))).toMatchObject({ exitCode: 0 });
  const embeddings = join(env.KGWALK_HOME!, 'embeddings');
  // Moments outside the phase do not count. A busy machine may miss them; then others are drawn.
  let died: number[];
  let attempt = 0;
  do {
    expect(attempt).toBeLessThan(20);
    rmSync(embeddings, { recursive: true, force: true });
    const broken = join(env.KGWALK_HOME!, `broken-${attempt}`);
    died = await trainKilled(words(broken), broken, phases, attempt++);
    expect(runHashes(broken)).toEqual(runHashes(whole));
    if (existsSync(embeddings)) expect(readdirSync(embeddings).join()).not.toContain('unfinished');
  } while (phases.some(({ kills }, i) => died[i]! < Math.ceil(kills / 2)));
  tally(
    'moments killed',
    died.reduce((sum, count) => sum + count, 0),
  );
}

test('TransE, cloning and PPO on dialogues, killed and resumed, end byte for byte as the unbroken run', async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  const overrides = [
    ...tinyOverrides,
    ...['data.graph=wide', 'transe.validShare=0.5', 'transe.epochs=500', 'transe.evalEvery=10'],
    ...['transe.patience=1000', 'clone.epochs=16', 'ppo.updates=30', 'ppo.evalEvery=7'],
  ];
  await expectEqualEnds('opendialkg-tiny', overrides, [
    { name: 'transe', steps: 500, kills: often(1, 20) },
    { name: 'clone', steps: 48, kills: often(0, 20) },
    { name: 'ppo', steps: 30, kills: often(1, 20) },
  ]);
});

test('a head that draws edges while it is cloned, killed and resumed there and in PPO, ends as the unbroken run', async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  const overrides = [
    ...tinyOverrides,
    ...['transe.enabled=false', 'walker.head=attn-io', 'walker.inEdges=1', 'clone.loss=nodes'],
    ...['clone.epochs=16', 'ppo.updates=30', 'ppo.evalEvery=7'],
  ];
  await expectEqualEnds('opendialkg-tiny', overrides, [
    { name: 'clone', steps: 48, kills: 20 },
    { name: 'ppo', steps: 30, kills: 20 },
  ]);
});

test('cloning of a recurrent head that reads words, by margins of what is drawn, killed and resumed, ends byte for byte as the unbroken run', async () => {
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  const overrides = [
    ...tinyOverrides,
    ...['data.graph=wide', 'transe.enabled=false', 'ppo.enabled=false', 'clone.epochs=16'],
    ...['walker.head=seq2seq', 'walker.text=words', 'walker.edgeFeatures=false', 'clone.loss=hinge'],
  ];
  await expectEqualEnds('opendialkg-tiny', overrides, [{ name: 'clone', steps: 48, kills: 20 }]);
});

test('PPO on questions, killed and resumed, ends byte for byte as the unbroken run', async () => {
  await importFilms();
  const overrides = [...filmOverrides, 'ppo.updates=40', 'checkpoint.everyUpdates=3'];
  await expectEqualEnds('metaqa', overrides, [{ name: 'ppo', steps: 40, kills: 20 }]);
});

test('a reader of questions, killed and resumed, ends byte for byte as the unbroken run', async () => {
  await importFilms();
  const overrides = [
    ...['data.dataset=films', 'encoder.model=hashed:32', 'reader.width=8', 'reader.wordDim=8'],
    ...['reader.fit.steps=60', 'reader.fit.batchSize=4', 'reader.fit.evalEvery=4'],
  ];
  await expectEqualEnds('readers', overrides, [{ name: 'fit', steps: 60, kills: 20 }]);
});

test('PPO of a language model, killed and resumed, ends byte for byte as the unbroken run', async () => {
  await importFilms();
  const { path } = await tinyLlama({ contextLength: 1024 });
  const overrides = [
    ...['data.dataset=films', 'data.subsets=all', `encoder.model=${path}`, 'backend=simd', 'ppo.updates=40'],
    ...['relationWalker.model={ layers: 1, rank: 2, examples: false }', 'ppo.samplesPerUpdate=8'],
    ...['ppo.minibatchSamples=4', 'ppo.learningRate=0.02', 'ppo.evalEvery=5', 'checkpoint.everyUpdates=3'],
    'evaluation.resamples=100',
  ];
  await expectEqualEnds('llm-policy', overrides, [{ name: 'ppo', steps: 40, kills: 20 }]);
});
