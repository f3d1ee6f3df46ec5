/** Initial weights of PPO: one rule for walkers of dialogues, questions and links. */
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../checkpoints/checkpoint.js';
import { readIndex } from '../../checkpoints/store.js';
import type { RunSettings } from '../../presets/index.js';
import { openRun } from '../../src/run/run-folder.js';
import { forkSettings, train } from '../../tasks/train.js';
import { often } from '../fixtures/long-tests.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { importTinyLinks, tinyLinkSettings } from '../fixtures/tiny-link-training.js';
import { tinySettings } from '../fixtures/tiny-training.js';
import { filmSettings, importFilms } from '../fixtures/toy-question-training.js';

const home = useReleaseHome();
beforeAll(async () => {
  await importFilms();
  await importTinyLinks();
});

type SettingsOf = (...overrides: string[]) => RunSettings;
const short = ['ppo.updates=1', 'ppo.evalEvery=1'];
const scratch = ['ppo.init=scratch', 'ppo.klCoef=0', 'clone.enabled=false'];
/** The steps of PPO change nothing. */
const still = 'ppo.learningRate=0';

/** Weights of a run's checkpoint, without the state of optimizers. */
function weightsOf(folder: string, which: 'clone' | 'last') {
  const { tensors } = readCheckpoint(readIndex(folder)[which]!.file);
  return Object.fromEntries(Object.entries(tensors).filter(([name]) => !name.startsWith('optimizer/')));
}

const cases: [string, SettingsOf][] = [
  ['dialogues', (...more) => tinySettings('transe.enabled=false', ...short, ...more)],
  ['links', (...more) => tinyLinkSettings(...short, ...more)],
  ['questions', (...more) => filmSettings(...short, ...more)],
];

/** `npm test` takes dialogues alone. */
test.each(cases.slice(0, often(1, 3)))(
  'a fork of a run from scratch begins with the weights that were forked: %s',
  async (name, settingsOf) => {
    const [run, folder, other] = ['run', 'fork', 'other'].map((one) => join(home(), `${name}-${one}`));
    await train({ settings: settingsOf(...scratch, 'ppo.learningRate=0.05'), folder: run! });
    const settings = await forkSettings(openRun(run!), [still]);
    await train({ settings, folder: folder!, fork: { run: run!, checkpoint: 'last' } });
    expect(weightsOf(folder!, 'last')).toEqual(weightsOf(run!, 'last'));
    // Without the fork it would begin elsewhere.
    await train({ settings: settingsOf(...scratch, still), folder: other! });
    expect(weightsOf(other!, 'last')).not.toEqual(weightsOf(run!, 'last'));
  },
);

test.each(cases.slice(0, often(1, 2)))(
  'a run that clones continues from its clone, and so does its fork: %s',
  async (name, settingsOf) => {
    const [run, folder] = ['cloned', 'cloned-fork'].map((one) => join(home(), `${name}-${one}`));
    await train({ settings: settingsOf(still), folder: run! });
    const clone = weightsOf(run!, 'clone');
    expect(weightsOf(run!, 'last')).toEqual(clone);
    const settings = await forkSettings(openRun(run!), ['clone.enabled=true']);
    await train({ settings, folder: folder!, fork: { run: run!, checkpoint: 'clone' } });
    expect(weightsOf(folder!, 'last')).toEqual(weightsOf(folder!, 'clone'));
    // It cloned once more, from where the run had been.
    expect(weightsOf(folder!, 'clone')).not.toEqual(clone);
  },
);
