/**
 * Hashes of what commands leave behind, compared with `expected.json`: refactoring must not change a byte of weights,
 * metrics, tables, prompts or rows. Everything goes through the command line and the files of docs/reference/files.md, so that
 * nothing here knows how the program is built.
 *
 * A deliberate change is recorded again by `KGWALK_RECORD_GOLDEN=1 npm test -- -i test/golden`, in a separate commit that
 * says why; `printed/` holds texts to read, `expected.json` hashes.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import process, { arch, env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { kgwalk } from '../fixtures/command-line.js';
import { madeOnce } from '../fixtures/finished-run.js';
import { isLong } from '../fixtures/long-tests.js';
import { folderWith } from '../fixtures/tiny-release.js';

/** Contents of one place: a hash for every file, or a short readable value. */
type Rows = Record<string, string>;

/** `test`, or `test.skip`. */
type Test = (name: string, body: () => Promise<void>) => void;

interface Group {
  /** Subject of the rows. */
  what: string;
  /** The kind of machine that they hold on, where they hold on no other. */
  on?: string;
  rows: Rows;
}

interface Expected {
  about: string;
  /** By test file, then by group. */
  files: Record<string, Record<string, Group>>;
}

const here = dirname(fileURLToPath(import.meta.url));
const expectedFile = join(here, 'expected.json');
const recording = env.KGWALK_RECORD_GOLDEN === '1';

/** True where every group and row is made: in `npm run test:long`, and while recording. `npm test` makes some of each task. */
export const inFull = isLong || recording;

const read = (): Expected => JSON.parse(readFileSync(expectedFile, 'utf8')) as Expected;

/**
 * The kind of machine that decides about bits of networks: WebAssembly fixes sums on any processor, `Math.exp` and its like
 * belong to the JavaScript engine (docs/decisions/determinism.md).
 */
const engine = `${arch}, V8 ${process.versions.v8.split('.').slice(0, 2).join('.')}`;

/** Makes the tests of a file's groups; at the end of a recording they are what `expected.json` says of the file. */
export function goldens(file: string) {
  const groups: Record<string, Group> = {};

  /** `test`, or a skip with its reason where what was recorded is of another kind of machine. */
  function testOn(kind: string, of: string, recorded: string | undefined): Test {
    if (recording || kind === recorded) return test;
    console.warn(`skipped ${of} in test/golden: recorded on ${recorded ?? 'no machine'}, this one is ${kind}`);
    return test.skip;
  }

  function check(name: string, what: string, make: () => Rows | Promise<Rows>, on?: string): void {
    const run = on === undefined ? test : testOn(on, name, read().files[file]?.[name]?.on);
    run(name, async () => {
      const rows = Object.fromEntries(Object.entries(await make()).sort(([one], [other]) => (one < other ? -1 : 1)));
      expect(Object.keys(rows)).not.toEqual([]);
      groups[name] = { what, ...(on !== undefined && { on }), rows };
      if (recording) return;
      const expected = read().files[file]![name]!.rows;
      expect(rows).toEqual(
        inFull ? expected : Object.fromEntries(Object.keys(rows).map((key) => [key, expected[key]])),
      );
    });
  }

  afterAll(() => {
    if (!recording) return;
    const about = 'Hashes (sha256) of what commands leave behind, by test file; see golden.ts. Recorded, never edited.';
    const expected = { about, files: { ...read().files, [file]: groups } };
    writeFileSync(expectedFile, JSON.stringify(expected, undefined, 2) + '\n');
  });

  return {
    /** Bytes that are equal on every machine: data, keys, texts. */
    same: (name: string, what: string, make: () => Rows | Promise<Rows>) => check(name, what, make),
    /** Bytes that come out of networks: skipped on other kinds of machines than the one that recorded them. */
    numbers: (name: string, what: string, make: () => Rows | Promise<Rows>, on = engine) => check(name, what, make, on),
    /** A test of a text with such numbers in it. */
    testOnEngine: testOn(engine, 'printed numbers', Object.values(read().files.runs ?? {}).find(({ on }) => on)?.on),
  };
}

/** Temporary home for a file, also the working folder, with the demo world of 300 entities. */
export function useDemoHome(): { readonly folder: string } {
  const previousFolder = process.cwd();
  const folder = folderWith({});
  beforeAll(async () => {
    cpSync(await madeOnce('demo-world', makeDemoWorld), folder, { recursive: true });
    process.chdir(folder);
    env.KGWALK_HOME = join(folder, 'home');
    delete env.KGWALK_RUNS;
  });
  afterAll(() => {
    process.chdir(previousFolder);
  });
  return { folder };
}

async function makeDemoWorld(folder: string): Promise<void> {
  env.KGWALK_HOME = join(folder, 'home');
  const demo = ['datasets', 'demo', '--entities', '300', '--dialogues', '60', '--questions', '200'];
  await ran(...demo);
  await ran(...demo, '--write', join(folder, 'written'));
  // The folder also holds dialogues; link data is its triples alone.
  const triples = join(folder, 'written', 'triples.txt');
  await ran('datasets', 'import', 'triples', '--from', triples, '--name', 'links');
}

/** Output of a command that must succeed. */
export async function ran(...words: string[]): Promise<string> {
  const { exitCode, out, err } = await kgwalk(...words);
  if (exitCode !== 0) throw new Error(`kgwalk ${words.join(' ')}: exit ${exitCode}: ${err}`);
  return out;
}

/** `--set` before each. */
export const set = (...settings: string[]): string[] => settings.flatMap((one) => ['--set', one]);

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Hash by name of the files under a folder whose name passes. */
export function hashesUnder(folder: string, wanted: (name: string) => boolean = () => true): Rows {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'));
  return Object.fromEntries(
    names.filter(wanted).map((name) => [name, sha256(readFileSync(join(folder, ...name.split('/'))))]),
  );
}

/** The tensors of a safetensors file without its header, which also holds settings. */
function tensorBytes(file: string): Uint8Array {
  const bytes = readFileSync(file);
  return bytes.subarray(8 + Number(bytes.readBigUInt64LE(0)));
}

/**
 * All files of a run but those with clocks, with the rows of what it evaluated (see `rowsOf`); of safetensors files also the
 * tensors alone, so that a new setting in the header differs from a changed weight.
 */
export function runRows(folder: string): Rows {
  const skipped = /^(environment\.json|timing\.jsonl|evaluations\/.*)$/;
  const rows = hashesUnder(folder, (name) => !skipped.test(name));
  const [valid] = readdirSync(join(folder, 'evaluations')).filter((name) => name.startsWith('valid'));
  rows['rows on valid'] = rowsOf(join(folder, 'evaluations', valid!));
  for (const name of Object.keys(rows).filter((one) => one.endsWith('.safetensors'))) {
    rows[`${name} (tensors)`] = sha256(tensorBytes(join(folder, ...name.split('/'))));
  }
  const { configHash, hashes } = JSON.parse(readFileSync(join(folder, 'environment.json'), 'utf8')) as {
    configHash: string;
    hashes: Rows;
  };
  return { ...rows, 'hash of the settings': configHash, ...prefixed('hash of the ', hashes) };
}

/** The rows of a kept evaluation: in its folder, or next to the file of the evaluation. */
export function rowsOf(saved: string): string {
  const places = [join(saved, 'rows.arrow'), join(dirname(saved), 'rows.arrow'), saved.replace(/\w+$/, 'arrow')];
  return sha256(readFileSync(places.find((path) => existsSync(path))!));
}

const prefixed = (prefix: string, rows: Rows): Rows =>
  Object.fromEntries(Object.entries(rows).map(([name, value]) => [prefix + name, value]));

/** Rows of several places in one. */
export const together = (places: Record<string, Rows>): Rows =>
  Object.assign({}, ...Object.entries(places).map(([place, rows]) => prefixed(`${place}: `, rows))) as Rows;

/**
 * A text to read, kept as `printed/NAME.txt`: without the test's folder, the hashes in names of evaluations (they hang on
 * it), times, speeds and columns of them.
 */
export function printed(name: string, text: string, folder: string): void {
  const file = join(here, 'printed', `${name}.txt`);
  const plain = withoutSpeeds(text.replaceAll(folder, 'FOLDER'))
    .replace(/(saved: .*\/).*kgwalk-test-\w+-/g, '$1')
    .replace(/(saved: .*-|-best-)[0-9a-f]{8}\b/g, '$1HASH')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/, [\d.]+ of them preparing/g, '')
    .replace(/about \d[\d,.]* (s|min|h)\b/g, 'about N min')
    .replace(/\d[\d,.]*( ?)(ms|s|min|h|MiB|MB|GB)\b/g, 'N$1$2')
    .replace(/\d[\d,.]*( [a-z]+(?:\/s| a second| an hour))/g, 'N$1')
    .replace(/ +$/gm, '');
  if (recording) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, plain);
  } else expect(plain).toBe(readFileSync(file, 'utf8'));
}

/** Tables without their columns of speeds: a header says where they are, a blank line ends the table. */
function withoutSpeeds(text: string): string {
  let cut: [begin: number, end: number] | undefined;
  return text
    .split('\n')
    .map((line) => {
      const header = /(?:queries\/s|ms\/question|ms\/sample) *(?= \S|$)/.exec(line);
      if (header && cut === undefined) cut = [header.index, header.index + header[0].length + 1];
      if (line === '') cut = undefined;
      return cut ? line.slice(0, cut[0]) + line.slice(cut[1]) : line;
    })
    .join('\n');
}
