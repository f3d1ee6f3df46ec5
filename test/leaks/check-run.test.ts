/** `kgwalk datasets check NAME --run RUN` on runs of the tiny preset: a clean one, and one whose train dialogue became test. */
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { loadDialogueDataset } from '../../datasets/dialogues/dialogue-dataset.js';
import { importOpenDialKg } from '../../datasets/opendialkg/import.js';
import { walkSamples } from '../../datasets/walk-sample.js';
import type { LeakReport } from '../../evaluation/leaks/leak-report.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { openRun } from '../../src/run/run-folder.js';
import { forkSettings, train } from '../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { useReleaseHome } from '../fixtures/release-home.js';
import { folderWith, releaseFiles } from '../fixtures/tiny-release.js';
import { evaluationOf, tinySettings } from '../fixtures/tiny-training.js';

let run: string;
const home = useSharedHome(async () => {
  run = await finishedRun('dialogues');
});

const check = (...words: string[]) => kgwalk('datasets', 'check', 'opendialkg', '--run', run, ...words);
const report = () => kgwalkJson<LeakReport>('datasets', 'check', 'opendialkg', '--run', run);

/** Runs `body` while files of the home say something else, as if the data set had been imported so. */
async function altered(files: Record<string, (text: string) => string>, body: () => Promise<void>): Promise<void> {
  const place = (name: string) => join(home(), name);
  const manifest = 'datasets/opendialkg/dataset.json';
  const before = [...Object.keys(files), manifest].map(
    (name) => [place(name), readFileSync(place(name), 'utf8')] as const,
  );
  const { files: hashes, ...about } = JSON.parse(readFileSync(place(manifest), 'utf8')) as {
    files: Record<string, string>;
    splits: Record<string, { dialogues: number }>;
  };
  for (const [name, alter] of Object.entries(files)) {
    const text = alter(readFileSync(place(name), 'utf8'));
    writeFileSync(place(name), text);
    const [, split] = /dialogues\.(\w+)\.jsonl$/.exec(name) ?? [];
    if (split === undefined) continue;
    hashes[basename(name)] = createHash('sha256').update(text).digest('hex');
    about.splits[split]!.dialogues = text.trimEnd().split('\n').length;
  }
  writeFileSync(place(manifest), JSON.stringify({ ...about, files: hashes }));
  try {
    await body();
  } finally {
    for (const [file, text] of before) writeFileSync(file, text);
  }
}

test('evaluations of the run that are kept elsewhere are looked at, and those of other runs are not', async () => {
  const elsewhere = ['--evaluations', folderWith({})];
  const other = join(folderWith({}), 'other');
  cpSync(run, other, { recursive: true });
  for (const one of [run, other]) await kgwalk('evaluate', one, '--split', 'test', ...elsewhere);
  expect((await report()).targets).toEqual([]);
  const words = ['datasets', 'check', 'opendialkg', '--run', run, ...elsewhere];
  const { targets } = await kgwalkJson<LeakReport>(...words);
  expect(targets.map(({ evaluation }) => evaluation)).toEqual([expect.stringContaining('-test-best-')]);
});

describe('a clean run', () => {
  test('shows everything that it made and from what, and that nothing of test is in it', async () => {
    const { artifacts, found, foundBeside, unknown, notNoted, targets } = await report();
    expect(artifacts.map(({ kind, name, samples }) => [kind, name, samples])).toEqual([
      ['choice', 'best checkpoint', { valid: 2 }],
      ['choice', 'loss after an epoch', { valid: 2 }],
      ['edge list', 'graph dialogue', {}],
      ['embedding', 'TransE', {}],
      ['embedding', 'facts that TransE never holds out', { train: 3 }],
      ['frequency table', 'walk counts', { train: 3 }],
      ['frequency table', 'words of entity names', {}],
      ['normaliser', 'principal components (name)', {}],
      ['normaliser', 'principal components (signature)', {}],
      ['training', 'PPO', { train: 3 }],
      ['training', 'cloning', { train: 3 }],
    ]);
    expect(new Set(artifacts.map(({ verdict }) => verdict))).toEqual(new Set(['none found']));
    expect([found, foundBeside, unknown, notNoted, targets]).toEqual([[], [], [], [], []]);
    const { exitCode, out } = await check();
    expect(exitCode).toBe(0);
    expect(out).toContain('found none of the 1 samples of test in 11 of 11 artifacts');
    expect(out).toContain('this does not certify that nothing leaked');
    expect(out).toContain('not tested, nothing was evaluated on test');
    expect(out).toContain('restricted to dialogue entities, evaluation dialogues included');
    expect(out).not.toMatch(/no leak/i);
  });

  test('is compared with agents that were evaluated with it', async () => {
    await kgwalk('compare', 'popularity', run, '--split', 'test');
    const { artifacts, targets, counts } = await report();
    const names = ['popularity-opendialkg-test', 'test-best'].map((name) => basename(evaluationOf(run, name)));
    const [popularity, best] = names;
    const ofPopularity = artifacts.filter(({ of }) => of === popularity).map(({ name }) => name);
    expect(ofPopularity).toEqual(['graph dialogue', 'relation sequences', 'tails of walks']);
    expect(targets.map(({ evaluation, verdict }) => [evaluation, verdict])).toEqual(
      names.map((name) => [name, 'too few']),
    );
    expect(counts.find(({ count }) => count === 'entity')!.usedBy).toEqual([popularity]);
    expect(counts.find(({ count }) => count === 'edge')!.usedBy).toEqual(['run', best]);
  });
});

describe('what is found', () => {
  const lines = (text: string) => text.trimEnd().split('\n');

  test('a dialogue that the run learned from and that is test now, in all it went into; status 3', async () => {
    const folder = 'datasets/opendialkg';
    const trained = lines(readFileSync(join(home(), folder, 'dialogues.train.jsonl'), 'utf8'));
    const moved = {
      [`${folder}/dialogues.train.jsonl`]: () => `${trained[0]}\n`,
      [`${folder}/dialogues.test.jsonl`]: () => `${trained[1]}\n`,
    };
    await altered(moved, async () => {
      const { exitCode, out, err } = await check();
      expect(exitCode).toBe(3);
      for (const name of ['walk counts', 'facts that TransE never holds out', 'PPO', 'cloning']) {
        expect(out).toMatch(new RegExp(`${name} +train 1, test 2 +2 +found`));
        expect(err).toContain(`"${name}": made from 2 samples of test`);
      }
      expect(out).toMatch(/TransE +no sample +0 +none found/);
    });
  });

  test('a dialogue of valid that stands in train under another id, and the choice of the best by valid', async () => {
    const { exitCode, out, err } = await check('--split', 'valid');
    expect(exitCode).toBe(3);
    expect(out).toMatch(/walk counts +train 3 +0 +2 +found: the same samples under other ids/);
    expect(out).toMatch(/best checkpoint +valid 2 +2 +allowed: the best on these was kept/);
    expect(err).toContain('cloning": the same samples under other ids');
  });

  test('a dialogue whose words were changed since', async () => {
    const other = (text: string) => text.replace('Who made Glass Harbor?', 'Who owns Glass Harbor?');
    await altered({ 'datasets/opendialkg/dialogues.train.jsonl': other }, async () => {
      expect((await check()).err).toContain('walk counts": these ids stand for other samples in the data set');
    });
  });
});

describe('what is not known', () => {
  test('a fork knows what its weights were made from as far as their run does', async () => {
    const forkOf = async (notes: boolean) => {
      const [from, folder] = [join(home(), `from-${notes}`), join(home(), `fork-${notes}`)];
      cpSync(run, from, { recursive: true });
      if (!notes) rmSync(join(from, 'provenance.json'));
      const settings = await forkSettings(openRun(from), ['ppo.updates=1']);
      await train({ settings, folder, fork: { run: from, checkpoint: 'clone' } });
      return kgwalk('datasets', 'check', 'opendialkg', '--run', folder);
    };
    const known = await forkOf(true);
    expect([known.exitCode, known.out]).toEqual([0, expect.stringMatching(/cloning +train 3 +0 +none found/)]);
    const unknown = await forkOf(false);
    expect([unknown.exitCode, unknown.out]).toEqual([
      3,
      expect.stringMatching(/weights it began with .* not known: their sources were not noted/),
    ]);
    expect(unknown.out).toContain('not noted, so not known: training: cloning');
  });

  test('a run without notes is not said to be clean', async () => {
    const file = join(run, 'provenance.json');
    renameSync(file, `${file}.away`);
    try {
      const { exitCode, out, err } = await check();
      expect(exitCode).toBe(3);
      expect(out).toContain('run: nothing is known of what it was made from');
      expect(err).toContain('got none of run');
    } finally {
      renameSync(`${file}.away`, file);
    }
  });

  test('an expected artifact without notes is reported', async () => {
    const without = (text: string) => {
      const record = JSON.parse(text) as { artifacts: { name: string }[] };
      return JSON.stringify({ ...record, artifacts: record.artifacts.filter(({ name }) => name !== 'cloning') });
    };
    // As of a run that was stopped, whose notes still grow.
    const stopped = (text: string) => text.replace('"finished"', '"stopped"');
    await altered({ 'dialogues-run/provenance.json': without, 'dialogues-run/state.json': stopped }, async () => {
      const { exitCode, out } = await check();
      expect([exitCode, out]).toEqual([3, expect.stringContaining('not noted, so not known: training: cloning')]);
    });
  });

  test('a split to learn from, another data set and no run are refused', async () => {
    expect((await check('--split', 'train')).err).toContain(
      'expected a split that nothing may be made from (valid or test)',
    );
    expect((await kgwalk('datasets', 'check', 'opendialkg', '--split', 'test')).exitCode).toBe(2);
    expect((await kgwalk('datasets', 'check', 'opendialkg', '--run', 'gone')).err).toContain(
      'expected a run or an evaluation, got "gone", at --run',
    );
    await importOpenDialKg({ from: folderWith(releaseFiles), name: 'other' });
    const other = await kgwalk('datasets', 'check', 'other', '--run', run);
    expect([other.exitCode, other.err]).toEqual([2, expect.stringContaining('which is opendialkg, got other')]);
  });
});

/** `data.oracle=reply`: an agent that reads what was said after the path was chosen is never taken for a walker. */
describe('an oracle', () => {
  const home = useReleaseHome();
  let run: string;

  beforeAll(async () => {
    run = join(home(), 'oracle');
    const settings = tinySettings('transe.enabled=false', 'ppo.enabled=false', 'data.oracle=reply');
    await train({ settings, folder: run });
  });

  test('its tasks end with what the speaker says after choosing, where that speaker says something, and no others do', async () => {
    const dataset = loadDialogueDataset('opendialkg');
    const graph = await dataset.loadGraph();
    const last = (oracle: 'reply' | null) =>
      walkSamples(dataset.loadDialogues('train'), graph, { oracle }).map(({ task }) => task.messages.at(-1)!.text);
    expect(last(null)).toEqual(['Who made Glass Harbor?', 'I like Ada Quill.', 'Paper Moons above all.']);
    expect(last('reply')).toEqual(['Ada Quill did.', 'Paper Moons above all.', 'Paper Moons above all.']);
  });

  test('every record of it says so, of compared agents, too', async () => {
    const record = await kgwalkJson<EvaluationRecord>('evaluate', run, '--split', 'valid');
    expect([record.note, record.oracle]).toEqual(['oracle: reads the reply', 'reply']);
    const { out } = await kgwalk('compare', 'popularity', run, '--split', 'valid');
    expect(out.match(/oracle: reads the reply/g)!.length).toBeGreaterThan(1);
  });

  test('a check for leaks finds that it read other words than a walker may', async () => {
    const leaks = await kgwalk('datasets', 'check', 'opendialkg', '--run', run);
    expect([leaks.exitCode, leaks.err]).toEqual([3, expect.stringContaining('these ids stand for other samples')]);
  });
});
