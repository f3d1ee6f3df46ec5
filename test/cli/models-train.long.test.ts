import { expect, test } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importDemo } from '../../datasets/demo/import.js';
import { demoModelSettings } from '../../models/demo/settings.js';
import { trainDemoModel } from '../../models/demo/train-demo-model.js';
import { readGgufHeader } from '../../src/llm/gguf/read-header.js';
import { loadConfig } from '../../src/run/config.js';
import { readJsonLines } from '../../src/run/json-lines.js';
import { silentProgress } from '../../src/run/progress.js';
import { openExecutor } from '../../src/nn/open-executor.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';

useOwnHome();

const model = ['vocabSize=800', 'contextLength=2048', 'dim=8', 'layers=1', 'heads=2', 'kvHeads=1', 'hiddenDim=8'];
const corpus = ['moreQuestions=0', 'characters=40000', 'watchCharacters=1000', 'vocabularyCharacters=20000'];
const training = ['tokens=3000', 'stepTokens=1024', 'windowDocuments=8', 'logTokens=1000', 'watchTokens=2000'];
const settings = (section: string, values: string[]) => values.map((value) => `${section}.${value}`);
const given = [...settings('model', model), ...settings('corpus', corpus), ...settings('training', training)];

test('a model is trained from the demo’s data to a file, stopped and resumed', async () => {
  await importDemo({ settings: { entities: 300, triples: 1500, dialogues: 30, questions: 60 } });
  const out = mkdtempSync(join(tmpdir(), 'kgwalk-model-'));
  const command = ['models', 'train', '--out', out, ...given.flatMap((one) => ['--set', one])];

  const tooFew = await kgwalk(...command, '--set', 'model.vocabSize=60000');
  expect(tooFew.err).toMatch(/expected a vocabulary of 60000 tokens, got \d+, at model\.vocabSize/);
  const tooMany = await kgwalk(...command, '--set', 'model.vocabSize=300');
  expect(tooMany.err).toMatch(/got 3\d\d, at model\.vocabSize/);

  const stop = new AbortController();
  const { finished, place } = await trainDemoModel({
    ...{ ...(await openExecutor('auto')), out, resume: false, signal: stop.signal },
    settings: loadConfig(demoModelSettings, { overrides: given }),
    progress: () => silentProgress('', 0, ''),
    onStage: (stage) => {
      if (stage === 'training') stop.abort();
    },
  });
  expect(finished).toBe(false);
  expect(place.tokens).toBeLessThan(3000);
  expect(existsSync(join(out, 'training.safetensors'))).toBe(true);
  const again = await kgwalk(...command);
  expect(again.err).toContain('Resume it by --resume');

  const result = await kgwalkJson<{ model: string; sha256: string; tokens: number; picture: string }>(
    ...command,
    '--resume',
  );
  expect(result).toMatchObject({
    model: join(out, 'kgwalk-demo.gguf'),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(result.tokens).toBeGreaterThanOrEqual(3000);
  expect(readGgufHeader(result.model).metadata.get('general.architecture')).toBe('llama');
  expect(readFileSync(result.picture).subarray(1, 4).toString()).toBe('PNG');
  expect(existsSync(join(out, 'training.safetensors'))).toBe(false);

  const [first, ...log] = readJsonLines<Record<string, unknown>>(join(out, 'training-log.jsonl'));
  expect(first).toMatchObject({ corpus: { documents: expect.any(Number) }, settings: { model: { dim: 8 } } });
  const steps = log.map((line) => line.tokens as number);
  expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  expect(log.at(-1)).toMatchObject({ watched: { all: { loss: expect.any(Number) } } });

  // A training that diverges reports its update and the remedy.
  const wild = [...command, '--set', 'training.learningRate=1e25', '--set', 'training.warmupTokens=0'];
  const diverged = await kgwalk(...wild);
  expect(diverged.exitCode).toBe(1);
  expect(diverged.err).toMatch(/error: expected finite .+, at update 2\n/);
  expect(diverged.err).toContain('Lower training.learningRate or training.maxGradNorm');
});
