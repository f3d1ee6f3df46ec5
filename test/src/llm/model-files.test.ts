import { mkdirSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as files from '../../../src/llm/model-files.js';
import { modelRegistry } from '../../../src/llm/model-files.js';
import { modelsFolder } from '../../../src/run/locations.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { thrownBy } from '../../fixtures/thrown.js';

const { downloadedModelFile, downloadedModels, lastingModelName, modelFile, openLanguageModel } = files;
useOwnHome();

/** Puts files of those names among the downloaded models. */
function download(...names: string[]): void {
  mkdirSync(modelsFolder(), { recursive: true });
  for (const name of names) writeFileSync(join(modelsFolder(), name), '');
}

const refusal = (spec: string) => thrownBy(() => modelFile(spec));

describe('a name of a model', () => {
  test('with a separator or .gguf at its end is a path, whether or not there is a file', () => {
    expect(modelFile('nowhere/none.bin')).toBe(resolve('nowhere/none.bin'));
    expect(modelFile('Model.GGUF')).toBe(resolve('Model.GGUF'));
  });

  test('demo is the file that comes with the package', () => {
    const file = modelFile('demo');
    expect(isAbsolute(file)).toBe(true);
    expect(file).toMatch(/models[/\\]demo[/\\]kgwalk-demo\.gguf$/);
  });

  test('is that of a downloaded file, half-finished downloads apart', () => {
    download('mine-1.5b.gguf', 'half.gguf.part', 'mine-1.5b.json');
    expect(downloadedModels()).toEqual(['mine-1.5b']);
    expect(modelFile('mine-1.5b')).toBe(join(modelsFolder(), 'mine-1.5b.gguf'));
    expect(refusal('mine-1.5b.gguf')).toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('ending: mine-1.5b.'),
    });
  });

  test('that is known but not here says how to get it', () => {
    const { name } = modelRegistry[0]!;
    expect(refusal(name)).toMatchObject({ code: 'data', hint: `Get it: kgwalk models get ${name}` });
  });

  test('that nothing has names the nearest one', () => {
    download('zephyr.gguf');
    expect(refusal('zephir')).toMatchObject({ code: 'usage', message: 'expected a model, got "zephir"' });
    expect(refusal('zephir').hint).toContain('Did you mean "zephyr"?');
    expect(refusal('demo2').hint).toContain('Did you mean "demo"?');
    expect(refusal('https://127.0.0.1/m.gguf').hint).toContain('kgwalk models get');
  });

  test.each(['..', '.hidden', 'a:b', ''])('%j cannot be one of a download', (name) => {
    expect(() => downloadedModelFile(name)).toThrow('expected a name of a model');
  });

  test('is remembered by runs as it was given; a path becomes absolute', () => {
    expect(['demo', 'hashed:64', 'qwen2.5'].map(lastingModelName)).toEqual(['demo', 'hashed:64', 'qwen2.5']);
    expect(lastingModelName('x.gguf')).toBe(resolve('x.gguf'));
  });
});

describe('what stands behind --model', () => {
  test('URL#MODEL opens a server, with everything after the first # as its name', async () => {
    const model = await openLanguageModel('http://127.0.0.1:9/v1/#org/name#4bit', { server: { concurrency: 7 } });
    expect(model).toMatchObject({ name: 'http://127.0.0.1:9/v1#org/name#4bit', concurrency: 7 });
  });

  test('a path that ends in .gguf opens a local file', async () => {
    await expect(openLanguageModel('nowhere/none.GGUF')).rejects.toMatchObject({ code: 'data' });
  });

  test.each(['http://127.0.0.1/v1', 'http://127.0.0.1/v1#', 'model.bin', 'gpt-4', '', 'oracle:0.1'])(
    '%j is a usage error that says what can be given',
    async (spec) => {
      await expect(openLanguageModel(spec)).rejects.toMatchObject({
        code: 'usage',
        hint: expect.stringMatching(/v1#/),
      });
    },
  );
});
