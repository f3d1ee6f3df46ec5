import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stderr, stdout } from 'node:process';
import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import {
  describeFailure,
  formatTable,
  printJson,
  printLine,
  printNote,
  printTable,
  printUsageError,
} from '../../cli/output.js';
import { overallProgress } from '../../cli/quickstart/overall-progress.js';
import { configHash } from '../../src/run/config-values.js';
import { packageRoot } from '../../src/run/locations.js';
import { printableLines } from '../../src/run/printable.js';
import { terminalProgress } from '../../src/run/progress.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { isLong, often } from '../fixtures/long-tests.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { nasty } from '../fixtures/spoilt.js';
import { folderWith } from '../fixtures/tiny-release.js';

useOwnHome();

/** Resets the terminal, clears the screen and sets its title by 8-bit introducers, rings, turns the line around. */
const evil = 'Heat\u001bc\u009b2J\u009d0;owned\u0007\u202egnp.exe\u2066\u200f\u007f';
/** Terminal control and bidirectional characters; line breaks and tabs are the program's. */
const obeyed = /[^\P{Cc}\n\t]|[\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/u;
const isQuiet = (text: string) => expect(obeyed.exec(text)?.[0]).toBeUndefined();

const questions = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => ({
  question: `who directed [${evil}] ${i}`,
  answers: [`Mann${evil}`],
  chain: [`by${evil}`],
  type: `type${evil}`,
}));

const release = () =>
  folderWith({
    'triples.tsv': `${evil}\tby${evil}\tMann${evil}\n`,
    'questions.jsonl': questions.map((one) => `${JSON.stringify(one)}\n`).join(''),
  });

describe('names that a terminal would obey are shown as escapes', () => {
  test('by every command that shows names of a data set; as JSON they are exact', async () => {
    const words = [
      ['datasets', 'import', 'custom', '--from', release(), '--name', 'odd'],
      ['datasets', 'list'],
      ['datasets', 'stats', 'odd'],
      ['datasets', 'check', 'odd'],
      ['ask', `who directed [${evil}]`, '--agent', 'random-chain', '--dataset', 'odd', '--trace'],
      ['evaluate', '--agent', 'random-chain', '--dataset', 'odd', '--split', 'all', '--evaluations', folderWith({})],
      ['ask', `who directed [${evil}?]`, '--agent', 'random-chain', '--dataset', 'odd'],
      ['datasets', 'stats', `odd/${evil}`],
      ['evaluate', '--agent', evil, '--dataset', 'odd'],
      ['datasets', 'stats', evil],
      ['models', 'info', evil],
      ['config', 'show', evil],
      ['train', 'metaqa', '--set', `ppo.${evil}=1`, '--dry-run'],
    ];
    for (const [turn, line] of words.entries()) {
      const { out, err } = await kgwalk(...line);
      expect(`${out}${err}`.length).toBeGreaterThan(0);
      isQuiet(out + err);
      if (!isLong && turn % 3 !== 1) continue;
      const json = await kgwalk(...line, '--json');
      isQuiet(json.out + json.err);
    }
    const { answers } = await kgwalkJson<{ answers: string[] }>(...words[4]!);
    expect(answers).toEqual([`Mann${evil}`]);
  });

  test('by errors that quote what a file holds', async () => {
    const folder = folderWith({ 'triples.tsv': `${evil}\n`, 'questions.jsonl': `${evil}\n` });
    const { err, exitCode } = await kgwalk('datasets', 'import', 'custom', '--from', folder);
    expect(exitCode).toBe(3);
    expect(err).toContain('\\u001bc');
    isQuiet(err);
    const csv = folderWith({ 'train.csv': `Messages\n"[{""x"":""${evil}"]\n`, 'triples.txt': 'a\tb\tc\n' });
    isQuiet((await kgwalk('datasets', 'import', 'opendialkg', '--from', csv)).err);
  });

  test('by the list of runs, for any content of their files', async () => {
    const runs = folderWith({});
    const config = { name: evil, seed: 1, data: { dataset: evil } };
    mkdirSync(join(runs, 'one'));
    writeFileSync(join(runs, 'one', 'config.yaml'), JSON.stringify(config));
    const environment = { schemaVersion: 1, started: evil, argv: [], versions: {}, platform: 'x', cpu: evil };
    const rest = { cores: 1, memoryMb: 1, configHash: configHash(config), hashes: {} };
    writeFileSync(join(runs, 'one', 'environment.json'), JSON.stringify({ ...environment, ...rest }));
    const state = { schemaVersion: 1, status: 'failed', done: {}, reason: evil };
    writeFileSync(join(runs, 'one', 'state.json'), JSON.stringify(state));
    mkdirSync(join(runs, 'two'));
    writeFileSync(join(runs, 'two', 'config.yaml'), `a: ${evil}\na: "`);
    const { out, err } = await kgwalk('runs', 'list', runs);
    expect(out).toContain('\\u001bc');
    isQuiet(out + err);
  });

  test('by tables in cells and heads, by failures, and by lines of progress', () => {
    isQuiet(formatTable([{ [evil]: evil }]));
    for (const json of [true, false]) {
      isQuiet(describeFailure(new Error(evil), json).text);
      isQuiet(describeFailure(evil, json).text);
    }
    const written: string[] = [];
    const stream = { isTTY: true, columns: 200, write: (text: string) => written.push(text) } as never;
    const line = terminalProgress(stream)(evil, 10, evil);
    line.update(1, evil);
    line.finish(evil);
    const overall = overallProgress([{ title: evil, parts: {} } as never], true, stream);
    overall.begin();
    overall.line(evil, 1, evil).update(1, evil);
    overall.end(evil);
    expect(written.length).toBeGreaterThan(3);
    // What redraws a line is the program's own.
    isQuiet(written.join('').replaceAll('\r\u001b[2K', ''));
  });
});

test('all that commands print with escapes, even unescaped output', () => {
  const written: string[] = [];
  const spies = [stdout, stderr].map((stream) =>
    jest.spyOn(stream, 'write').mockImplementation((text) => Boolean(written.push(String(text)))),
  );
  printLine(evil);
  printNote(evil);
  printJson({ [evil]: evil });
  printTable([{ [evil]: evil }]);
  printUsageError(evil, false);
  printUsageError(evil, true);
  for (const spy of spies) spy.mockRestore();
  expect(written).toHaveLength(6);
  written.forEach(isQuiet);
  expect(JSON.parse(written[2]!)).toEqual({ [evil]: evil });
});

test('escaping leaves JSON the same JSON', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.constantFrom(...nasty, evil)), (value) => {
      const text = JSON.stringify(value, null, 2);
      expect(JSON.parse(printableLines(text))).toEqual(JSON.parse(text));
      isQuiet(printableLines(text));
    }),
    { seed: 7, numRuns: often(25, 100) },
  );
});

test('nothing of the command line writes to a terminal but through what escapes', () => {
  const own = ['cli/output.ts', 'cli/main.ts', 'cli/program.ts', 'cli/terminal.ts'];
  const sources = ['cli', 'src', 'agents', 'datasets', 'envs', 'evaluation', 'models', 'reports', 'trainers'].flatMap(
    (folder) =>
      readdirSync(join(packageRoot(), folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => `${folder}/${file.replaceAll('\\', '/')}`),
  );
  const writing = sources.filter((file) =>
    /\bstd(out|err)\.write\(|console\.\w+\(/.test(readFileSync(join(packageRoot(), file), 'utf8')),
  );
  expect(writing.filter((file) => !own.includes(file))).toEqual([]);
});
