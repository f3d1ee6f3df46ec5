/** Runs whose walker reads the full text of every state: LLM-ARK's way. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadWalkerRun } from '../../agents/walker/load-walker.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import { train } from '../../tasks/train.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { tinySettings } from '../fixtures/tiny-training.js';

const home = useReleaseHome();
const overrides = ['stateText.encode=per-step', 'walker.head=pa-mlp', 'walker.placeVectors=false'];
const settings = (...more: string[]) => tinySettings(...overrides, ...more);
const everyPart = [
  'walker.critic=plain',
  'walker.stepEncoding=concat',
  'walker.stateNorm=layer',
  'walker.precision=bf16',
];

test.each([
  ['float32', []],
  ['bfloat16, with the step as input', everyPart],
])('answers as it did in training, from its folder alone, in %s', async (name, more) => {
  const folder = join(home(), `answers in ${name}`);
  await train({ settings: settings(...more), folder });
  const walker = await loadWalkerRun(folder, { checkpoint: 'last', beamWidth: 30 });
  try {
    const dataset = loadDialogueDataset('opendialkg');
    const tasks = walkSamples(dataset.loadDialogues('valid'), walker.graph).map(({ task }) => task);
    const walkable = tasks.filter(({ start }) => start >= 0 && walker.graph.degree(start) > 0);
    const answers = await walker.agent.answer(walkable);
    for (const { paths } of answers) {
      const total = paths.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0);
      expect(total).toBeCloseTo(1, 5);
    }
  } finally {
    await walker.close();
  }
  await expect(loadWalkerRun(folder, { checkpoint: 'last', beamWidth: 30, threads: 2 })).rejects.toThrow(/one thread/);
});
