/** Whole files, undamaged, that come from another run of the same data: every one is found, or makes no difference. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { verifyRun } from '../../checkpoints/chain.js';
import { kgwalk } from '../fixtures/command-line.js';
import { ran, set, useDemoHome } from '../golden/golden.js';

useDemoHome();

/** Files that no command relies on: the clock, and a copy of the log for other programs. */
const harmless = ['timing.jsonl', 'metrics.arrow'];

const small = ['encoder.model=hashed:32', 'backend=simd', 'ppo.updates=2', 'ppo.samplesPerUpdate=8'];
const kinds: Record<string, { preset: string; settings: string[]; trainedWith: string }> = {
  dialogues: {
    preset: 'opendialkg-tiny',
    settings: [
      ...['data.dataset=demo', 'data.maxDialogues=20', 'transe.epochs=2', 'transe.dim=8', 'clone.epochs=2'],
      ...['ppo.minibatchSamples=4'],
    ],
    trainedWith: 'embeddings/walker-tables.safetensors',
  },
  questions: {
    preset: 'demo-questions',
    settings: ['relationWalker.questionWidth=16', 'relationWalker.width=16', 'ppo.minibatchSamples=4'],
    trainedWith: 'embeddings/question-scale.safetensors',
  },
  links: {
    preset: 'umls-walk',
    settings: [
      ...[
        'data.dataset=links',
        'bilinear.dim=16',
        'bilinear.epochs=2',
        'linkWalker.width=16',
        'ppo.minibatchSamples=4',
      ],
      ...[
        'linkWalker.pathDim=8',
        'clone.epochs=1',
        'demonstrations.queries=100',
        'ppo.explorations=4',
        'ppo.evalSamples=20',
      ],
    ],
    trainedWith: 'embeddings/link-vectors.safetensors',
  },
};

const filesOf = (run: string): string[] =>
  (readdirSync(run, { recursive: true }) as string[]).filter((file) => /\.\w+$/.test(file));

/** The same file of another run: the names of evaluations end in a hash of the weights. */
function counterpart(file: string, other: string): string {
  const [folder, name, ...rest] = file.split(sep);
  if (folder !== 'evaluations' || name === undefined) return join(other, file);
  const kind = name.replace(/-[0-9a-f]{8}$/, '');
  const theirs = readdirSync(join(other, folder)).find((one) => one.startsWith(`${kind}-`));
  return join(other, folder, theirs!, ...rest);
}

const areEqual = (one: string, two: string): boolean =>
  readdirSync(one).every((file) => readFileSync(join(one, file)).equals(readFileSync(join(two, file))));

function problemOf(run: string): string | undefined {
  try {
    verifyRun(run);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

describe.each(Object.entries(kinds))('a run on %s', (name, { preset, settings, trainedWith }) => {
  const [own, other] = [`${name}-0`, `${name}-7`];

  test('is whole, and one of another seed, too', async () => {
    for (const run of [own, other]) {
      await ran('train', preset, '--run-dir', run, ...set(...small, ...settings, `seed=${run.split('-')[1]}`));
      expect(await ran('runs', 'verify', run)).toMatch(
        /^whole: settings, \d checkpoints, [1-9] tables, the log, the notes and 1 evaluations fit each other\n$/,
      );
    }
    expect(filesOf(own)).toContain(trainedWith);
  });

  test('knows each of its files from that of another run', () => {
    const missed = filesOf(own).filter((file) => {
      const [mine, theirs] = [join(own, file), counterpart(file, other)];
      const isHarmless = harmless.some((one) => file.endsWith(one));
      if (!existsSync(theirs) || readFileSync(mine).equals(readFileSync(theirs)) || isHarmless) return false;
      const swapped = `${name}-swapped`;
      cpSync(own, swapped, { recursive: true });
      cpSync(theirs, join(swapped, file));
      return problemOf(swapped) === undefined;
    });
    expect(missed).toEqual([]);
  });

  test.each(['checkpoints', 'embeddings'])('knows its %s from the whole folder of another', (folder) => {
    const swapped = `${name}-${folder}`;
    cpSync(own, swapped, { recursive: true });
    cpSync(join(other, folder), join(swapped, folder), { recursive: true });
    // What is made of equal data alone is equal.
    if (!areEqual(join(own, folder), join(other, folder))) expect(problemOf(swapped)).toMatch(/^expected /);
  });

  test('is not evaluated with the weights or tables of another', async () => {
    for (const file of ['checkpoints/ppo-000002.safetensors', trainedWith]) {
      const swapped = `${name}-evaluated`;
      cpSync(own, swapped, { recursive: true });
      cpSync(join(other, file), join(swapped, file));
      if (readFileSync(join(own, file)).equals(readFileSync(join(other, file)))) continue;
      const { exitCode, err } = await kgwalk(
        'evaluate',
        swapped,
        '--checkpoint',
        'last',
        '--split',
        'valid',
        '--limit',
        '5',
      );
      expect(err).toMatch(
        /expected the (checkpoint whose sha256 the index names|file that the weights were trained with)/,
      );
      expect(exitCode).toBe(3);
    }
  });
});

describe('an evaluation', () => {
  const [own, other] = ['dialogues-0', 'dialogues-7'];
  const evaluation = (run: string) => join(run, 'evaluations', readdirSync(join(run, 'evaluations'))[0]!);

  test.each(['answers.jsonl', 'evaluation.json'])(
    'with the %s of another is neither shown nor compared',
    async (file) => {
      const swapped = 'dialogues-shown';
      cpSync(own, swapped, { recursive: true });
      cpSync(join(evaluation(other), file), join(evaluation(swapped), file));
      const folder = evaluation(swapped);
      for (const words of [
        ['report', swapped],
        ['report', folder],
        ['compare', folder, 'random', '--split', 'valid'],
      ]) {
        const { exitCode, err } = await kgwalk(...words);
        expect([words[0], exitCode, err]).toEqual([
          words[0],
          3,
          expect.stringContaining('expected the file that the evaluation was sealed with'),
        ]);
      }
      cpSync(join(evaluation(own), file), join(folder, file));
    },
  );

  test('of another run, whole, is not shown as this run’s', async () => {
    const swapped = 'dialogues-whole';
    cpSync(own, swapped, { recursive: true });
    cpSync(evaluation(other), evaluation(swapped), { recursive: true });
    for (const words of [
      ['report', swapped],
      ['runs', 'verify', swapped],
    ]) {
      const { exitCode, err } = await kgwalk(...words);
      expect([exitCode, err]).toEqual([
        3,
        expect.stringMatching(/expected an evaluation of .*got one of other weights/),
      ]);
    }
  });

  test('with its digits altered is found, and so are the notes of the run', async () => {
    const altered = 'dialogues-altered';
    cpSync(own, altered, { recursive: true });
    const notes = join(altered, 'provenance.json');
    writeFileSync(notes, readFileSync(notes, 'utf8').replace(/"count": (\d+)/, '"count": 1$1'));
    expect(problemOf(altered)).toContain('expected the notes that the run ended with');
    const { exitCode, err } = await kgwalk('datasets', 'check', 'demo', '--run', altered, '--split', 'test');
    expect([exitCode, err]).toEqual([3, expect.stringContaining('expected the notes that the run ended with')]);
  });

  test('without its seal is refused', () => {
    const unsealed = 'dialogues-unsealed';
    cpSync(own, unsealed, { recursive: true });
    rmSync(join(evaluation(unsealed), 'seal.json'));
    expect(problemOf(unsealed)).toContain('expected the seal of an evaluation, got nothing');
  });
});

describe('a finished run', () => {
  const altered = (change: (log: string) => string, file = 'metrics.jsonl'): string => {
    cpSync('dialogues-0', 'altered', { recursive: true });
    writeFileSync(join('altered', file), change(readFileSync(join('altered', file), 'utf8')));
    return 'altered';
  };

  test.each<[string, (log: string) => string]>([
    ['cut in the middle', (log) => log.slice(0, log.length / 2)],
    ['cut at a line', (log) => log.slice(0, log.lastIndexOf('\n', log.length - 2) + 1)],
    ['that had a digit changed', (log) => log.replace(/(0\.\d*?)[1-8]/, '$19')],
    ['with a line more', (log) => `${log}${log.split('\n')[0]}\n`],
  ])('shows no log %s', async (_what, change) => {
    const run = altered(change);
    for (const command of [
      ['report', run],
      ['runs', 'export', run],
      ['runs', 'verify', run],
    ]) {
      const { exitCode, err } = await kgwalk(...command);
      expect(err).toMatch(/expected (a line that ends at byte|the first \d+ bytes|a log of \d+ bytes)/);
      expect(exitCode).not.toBe(0);
    }
  });

  test('needs the sha256 of each of its tables', async () => {
    const table = 'embeddings/walker-tables.safetensors';
    cpSync('dialogues-0', 'unsealed', { recursive: true });
    const bytes = readFileSync(join('unsealed', table));
    // One bit of the key that says where the sha256 stands, and a few of the numbers.
    bytes[bytes.indexOf('kgwalk-sha256')]! ^= 1;
    for (let i = 1; i <= 20; i++) bytes[bytes.length - 8 * i]! ^= 1;
    writeFileSync(join('unsealed', table), bytes);
    const { exitCode, err } = await kgwalk('evaluate', 'unsealed', '--split', 'valid', '--limit', '5');
    expect([exitCode, err]).toEqual([
      3,
      expect.stringContaining('expected the file that the weights were trained with'),
    ]);
    expect(problemOf('unsealed')).toBeDefined();
  });
});
