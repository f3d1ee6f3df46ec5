import { memoryUsage } from 'node:process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import type { RunSettings } from '../../presets/index.js';
import { train } from '../../tasks/train.js';
import { collectGarbage } from '../fixtures/collect-garbage.js';
import { often } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { tinySettings } from '../fixtures/tiny-training.js';
import { filmSettings, importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();

const updates = often(200, 5000);
/** Updates between two looks at memory. */
const lookEvery = updates / 10;

/** Trains; looks at memory now and then. */
async function watched(settings: RunSettings, phase: string) {
  const objects: number[] = [];
  const numbers: number[] = [];
  let last = 0;
  await train({
    settings,
    folder: join(folderWith({}), 'run'),
    progress: (label) => ({
      update(done) {
        if (label !== phase || done === last) return;
        last = done;
        if (done % lookEvery !== 0) return;
        collectGarbage();
        const { heapUsed, arrayBuffers } = memoryUsage();
        objects.push(heapUsed);
        numbers.push(arrayBuffers);
      },
      finish() {},
    }),
  });
  return { updates: last, objects: growth(objects), numbers: growth(numbers) };
}

/**
 * Bytes an update. What is left behind shows twice: from the least of one half to the least of the other, where compiled
 * code comes and goes, and in most steps from look to look, where something is allocated once for all.
 */
function growth(bytes: readonly number[]): number {
  const settled = bytes.slice(Math.ceil(bytes.length / 5));
  const half = Math.floor(settled.length / 2);
  const halves = (Math.min(...settled.slice(-half)) - Math.min(...settled.slice(0, half))) / (settled.length - half);
  const steps = settled.slice(1).map((look, i) => look - settled[i]!);
  const usual = steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)]!;
  return Math.min(halves, usual) / lookEvery;
}

// Updates of one pass over few walks, in more than one minibatch: what is left behind, each of them leaves.
const small = ['ppo.updateEpochs=1', 'ppo.explorations=2'];
const long = [...[`ppo.updates=${updates}`, 'ppo.evalEvery=1000000', `checkpoint.everyUpdates=${lookEvery}`], ...small];

test.each([
  ['PPO on dialogues', 'ppo', () => tinySettings(...long, 'ppo.baseline=critic')],
  ['PPO on questions', 'ppo', () => filmSettings(...long)],
  // Three updates an epoch; an evaluation after each.
  [
    'cloning',
    'clone',
    () => tinySettings(`clone.epochs=${Math.min(1000, Math.ceil(updates / 3))}`, 'ppo.enabled=false'),
  ],
])('%s holds no more memory after 200 updates', async (_, phase, settingsOf) => {
  await importFilms();
  await importOpenDialKg({ from: folderWith(releaseFiles) });
  const { updates: done, objects, numbers } = await watched(settingsOf(), phase);
  expect(done).toBeGreaterThanOrEqual(200);
  // Weights, batches and walks are arrays of numbers: one set of these small weights would be a hundred times as much.
  expect(numbers).toBeLessThan(300);
  // The engine keeps compiled code and forgets it; over many updates that comes to nothing.
  expect(objects).toBeLessThan(often(15_000, 600));
});
