import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadPreset } from '../../presets/index.js';
import { packageRoot, presetNames } from '../../src/run/locations.js';
import { autoOrder, type ComputerName } from '../../src/tensor/backend.js';
import { allTasks, taskOfSettings } from '../../tasks/index.js';

// Loaded one after the other before the tests: Jest links modules that dynamic imports share only once.
await allTasks();

/** Backend that `backend: auto` takes for a preset on a machine without a graphics card. */
async function backendWithoutGpu(preset: string, textDim: number, installed: readonly ComputerName[]): Promise<string> {
  const settings = loadPreset(preset);
  expect(settings.backend).toBe('auto');
  const { learning } = await taskOfSettings(settings);
  return autoOrder(learning.networkSize(settings, textDim)).names.find((name) => installed.includes(name))!;
}

async function choicesOf(preset: string, textDim: number): Promise<string[]> {
  const plain: ComputerName[] = ['host', 'wasm', 'cpu'];
  const { enabled } = loadPreset(preset).transe;
  return [
    `\`${preset}\``,
    `\`${await backendWithoutGpu(preset, textDim, plain)}\``,
    `\`${await backendWithoutGpu(preset, textDim, ['tensorflow', ...plain])}\``,
    enabled ? 'SIMD' : '–',
  ];
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
      .map((preset) => choicesOf(preset, 384)),
  );
  expect(rows).toEqual(taken);
});

test.each([192, 768, 1024])(
  'dialogue presets take the same backend for text vectors of %d numbers',
  async (textDim) => {
    for (const preset of ['demo', 'opendialkg', 'opendialkg-better', 'opendialkg-tiny', 'llm-ark-2024']) {
      expect(await choicesOf(preset, textDim)).toEqual(await choicesOf(preset, 384));
    }
  },
);
