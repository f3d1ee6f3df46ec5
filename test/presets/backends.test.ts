import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadPreset, type RunSettings } from '../../presets/index.js';
import { packageRoot, presetNames } from '../../src/run/locations.js';
import { autoOrder, type ExecutorName } from '../../src/nn/open-executor.js';
import { allTasks, taskOfSettings } from '../../tasks/index.js';

// Loaded one after the other before the tests: Jest links modules that dynamic imports share only once.
await allTasks();

/** Backends that `backend: auto` takes for a preset on a machine without a graphics card, without and with native TensorFlow. */
async function choicesOf(settings: RunSettings, textDim: number): Promise<ExecutorName[]> {
  expect(settings.backend).toBe('auto');
  const { learning } = await taskOfSettings(settings);
  const { names } = autoOrder(learning.methodOf(settings).networkSize(settings, textDim));
  const plain: ExecutorName[] = ['simd', 'wasm'];
  const first = (installed: readonly ExecutorName[]) => names.find((name) => installed.includes(name))!;
  return [first(plain), first(['tensorflow', ...plain])];
}

test('every preset takes the backend that docs/how-to/gpu.md says, without a graphics card', async () => {
  const page = readFileSync(join(packageRoot(), 'docs/how-to/gpu.md'), 'utf8').replaceAll(/\s+/g, ' ');
  const [, said] = /Every preset takes `(\w+)` on a machine without a graphics card, with or without native/.exec(
    page,
  )!;
  for (const preset of presetNames())
    expect([preset, ...(await choicesOf(loadPreset(preset), 384))]).toEqual([preset, said, said]);
});

test.each(['demo', 'opendialkg', 'opendialkg-better', 'opendialkg-tiny', 'llm-ark-2024'])(
  'the dialogue preset %s takes the same backend for text vectors of any length',
  async (preset) => {
    const settings = loadPreset(preset);
    const usual = await choicesOf(settings, 384);
    for (const textDim of [192, 768, 1024]) expect(await choicesOf(settings, textDim)).toEqual(usual);
  },
);
