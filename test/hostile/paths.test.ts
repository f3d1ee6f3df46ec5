import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { resolveCheckpoint } from '../../checkpoints/store.js';
import { importCustom } from '../../datasets/custom/import.js';
import { alteredFiles, datasetFolder } from '../../datasets/imported-dataset.js';
import { loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { evaluationFolder, readAsked } from '../../evaluation/keep.js';
import { downloadedModelFile } from '../../src/llm/model-files.js';
import { wantedModel } from '../../src/llm/download-model.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { confined } from '../../src/run/locations.js';
import { openRun, runId } from '../../src/run/run-folder.js';
import { often } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { nasty } from '../fixtures/spoilt.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';

useOwnHome();

const leading = [
  '..',
  '../x',
  '../../etc/passwd',
  '/etc/passwd',
  'a/../../x',
  'x/..',
  '.',
  '',
  'x\0y',
  '..\\x',
  './../x',
];
const outside = fc.oneof(
  fc.constantFrom(...leading, ...nasty.filter((word) => word.length < 100)),
  fc
    .array(fc.constantFrom('..', '.', '/', '\\', 'a', '\0', '%2e', '~'), { maxLength: 8 })
    .map((parts) => parts.join('')),
);

/** Questions made of one repeated word. */
const evaluationOfAll = (name: string) => ({
  ...({ schemaVersion: 2, kind: 'evaluation', task: name, agent: name, run: name, checkpoint: name } as const),
  ...{ about: { dataset: name, subsets: [name], split: name }, resamples: 1, hashes: {} },
});

/** The path, or undefined where the name was refused. */
function pathOf(name: () => string): string | undefined {
  try {
    return name();
  } catch (error) {
    expect(error).toBeInstanceOf(WorkbenchError);
    return undefined;
  }
}

describe('a name leads nowhere but into its folder', () => {
  test.each<[string, (name: string) => string, () => string]>([
    ['of a data set', (name) => datasetFolder(name), () => join(env.KGWALK_HOME!, 'datasets')],
    ['of a model', downloadedModelFile, () => join(env.KGWALK_HOME!, 'models')],
    ['of anything confined', (name) => confined('/base', name), () => '/base'],
    ['of a run to be', (name) => join('/runs', runId(name, 1)), () => '/runs'],
    ['of an evaluation to be', (name) => evaluationFolder(evaluationOfAll(name), { root: '/e' }), () => '/e'],
    [
      'of an evaluation of a run to be',
      (name) => evaluationFolder(evaluationOfAll(name), { runFolder: '/runs/one' }),
      () => '/runs/one/evaluations',
    ],
  ])('%s', (_what, place, folder) => {
    fc.assert(
      fc.property(outside, (name) => {
        const path = pathOf(() => place(name));
        if (path === undefined) return;
        expect(path.startsWith(`${folder()}/`)).toBe(true);
        expect(path.split('/')).not.toContain('..');
        expect(path).not.toContain('\0');
      }),
      { seed: 3, numRuns: often(100, 500) },
    );
  });

  test('of a run, an evaluation or a checkpoint is looked for inside, or is a folder that the user names', () => {
    const runs = folderWith({ 'secret/config.yaml': 'a: 1' });
    for (const name of ['..', '.', '']) expect(() => openRun(name, join(runs, 'runs'))).toThrow(WorkbenchError);
    for (const name of ['..', '.']) expect(() => readAsked(name, join(runs, 'runs'))).toThrow(WorkbenchError);
    const run = folderWith({ 'x.safetensors': 'x' });
    mkdirSync(join(run, 'checkpoints'));
    const entry = { phase: 'ppo', step: 1, metrics: {}, seal: 'a'.repeat(64) };
    writeFileSync(join(run, 'checkpoints', 'index.json'), JSON.stringify({ schemaVersion: 1, checkpoints: [entry] }));
    for (const which of ['../x', '../../x', 'ppo-000001', '__proto__', 'constructor']) {
      expect(() => resolveCheckpoint(run, which)).toThrow(/expected checkpoint/);
    }
    const odd = { schemaVersion: 1, checkpoints: [{ ...entry, phase: '../../x' }] };
    writeFileSync(join(run, 'checkpoints', 'index.json'), JSON.stringify(odd));
    expect(() => resolveCheckpoint(run, 'last')).toThrow(/expected an index of checkpoints, got checkpoints\.0\.phase/);
  });

  test('of a model in an address is taken from its last part, decoded once, and refused where it leads out', () => {
    for (const file of ['%2e%2e%2fx.gguf', '..%2f..%2fx.gguf', '%00.gguf', '%ZZ.gguf', '%.gguf', '%5c..%5cx.gguf']) {
      expect(() => wantedModel(`https://h.test/a/${file}`)).toThrow(WorkbenchError);
    }
    expect(wantedModel('https://h.test/a/b.gguf').name).toBe('b');
  });
});

describe('a manifest that names files elsewhere is refused before any is opened', () => {
  const edited = (name: string, edit: (manifest: Record<'files' | 'graphs' | 'subsets', object>) => void) => {
    const file = join(datasetFolder(name), 'dataset.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<'files' | 'graphs' | 'subsets', object>;
    edit(manifest);
    writeFileSync(file, JSON.stringify(manifest));
  };

  test('of dialogues', async () => {
    await importOpenDialKg({ from: folderWith(releaseFiles) });
    const before = readFileSync(join(datasetFolder('opendialkg'), 'dataset.json'), 'utf8');
    for (const key of ['../../x', '/etc/passwd', '..', '.', 'a/b', 'a\\b', '']) {
      edited('opendialkg', ({ files }) => Object.assign(files, { [key]: 'a'.repeat(64) }));
      expect(() => loadDialogueDataset('opendialkg')).toThrow(/expected a data set manifest .* files/);
      writeFileSync(join(datasetFolder('opendialkg'), 'dataset.json'), before);
    }
    edited('opendialkg', ({ graphs }) =>
      Object.assign(graphs, { 'x/../../../x': (graphs as { dialogue: object }).dialogue }),
    );
    expect(() => loadDialogueDataset('opendialkg')).toThrow(/expected a data set manifest .* graphs/);
  });

  test('of questions', async () => {
    const from = folderWith({
      'triples.tsv': 'Heat\tby\tMann\n',
      'questions.jsonl': '{"question":"who directed [Heat]","answers":["Mann"]}\n',
    });
    await importCustom({ from, name: 'mine' });
    const before = readFileSync(join(datasetFolder('mine'), 'dataset.json'), 'utf8');
    const edits: ((manifest: Record<'files' | 'graphs' | 'subsets', object>) => void)[] = [
      ({ files }) => Object.assign(files, { '../../x': 'a'.repeat(64) }),
      ({ graphs }) => Object.assign(graphs, { '../x': (graphs as { graph: object }).graph }),
      ({ subsets }) => Object.assign(subsets, { '../x': (subsets as { all: object }).all }),
      ({ subsets }) => Object.assign((subsets as { all: object }).all, { graph: 'another' }),
      (manifest) => (manifest.subsets = {}),
      ({ subsets }) => Object.assign((subsets as { all: { files: object } }).all.files, { '../x': {} }),
    ];
    for (const edit of edits) {
      edited('mine', edit);
      expect(() => loadQuestionDataset('mine')).toThrow(/expected a data set manifest/);
      writeFileSync(join(datasetFolder('mine'), 'dataset.json'), before);
    }
    expect(await alteredFiles(datasetFolder('mine'), loadQuestionDataset('mine').manifest.files)).toEqual([]);
  });

  test('and an import under such a name writes nothing', async () => {
    const from = folderWith(releaseFiles);
    for (const name of leading) await expect(importOpenDialKg({ from, name })).rejects.toThrow(WorkbenchError);
    expect(existsSync(join(env.KGWALK_HOME!, 'datasets'))).toBe(false);
    expect(readdirSync(env.KGWALK_HOME!)).toEqual([]);
  });
});
