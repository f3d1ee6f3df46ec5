import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadPreset, type RunSettings } from '../../presets/index.js';
import { packageRoot, presetNames } from '../../src/run/locations.js';
import { autoOrder, type ExecutorName } from '../../src/nn/open-executor.js';
import { allTasks, taskOfSettings } from '../../tasks/index.js';

// Loaded one after the other before the tests: Jest links modules that dynamic imports share only once.
await allTasks();

/** Backends that `backend: auto` takes for a preset on a machine without a graphics card, and its TransE kernel. */
async function choicesOf(settings: RunSettings, textDim: number): Promise<string[]> {
  expect(settings.backend).toBe('auto');
  const { learning } = await taskOfSettings(settings);
  const { names } = autoOrder(learning.methodOf(settings).networkSize(settings, textDim));
  const plain: ExecutorName[] = ['simd', 'wasm'];
  const first = (installed: readonly ExecutorName[]) => `\`${names.find((name) => installed.includes(name))!}\``;
  return [first(plain), first(['tensorflow', ...plain]), settings.transe.enabled ? 'SIMD' : '–'];
}

test('every preset takes the backend and the TransE kernel that docs/gpu.md says, without a graphics card', async () => {
  const rows = readFileSync(join(packageRoot(), 'docs/gpu.md'), 'utf8')
    .split('\n')
    .filter((line) => /^\| `[\w-]+` +\| `\w+` +\| `\w+` +\| /.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const taken = await Promise.all(
    presetNames()
      .sort()
      .map(async (preset) => [`\`${preset}\``, ...(await choicesOf(loadPreset(preset), 384))]),
  );
  expect(rows).toEqual(taken);
});

test.each(['demo', 'opendialkg', 'opendialkg-better', 'opendialkg-tiny', 'llm-ark-2024'])(
  'the dialogue preset %s takes the same backend for text vectors of any length',
  async (preset) => {
    const settings = loadPreset(preset);
    const usual = await choicesOf(settings, 384);
    for (const textDim of [192, 768, 1024]) expect(await choicesOf(settings, textDim)).toEqual(usual);
  },
);
