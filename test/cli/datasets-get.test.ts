import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { env, stderr } from 'node:process';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Release, releases } from '../../datasets/releases.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { hashOf } from '../fixtures/downloads.js';
import { says, sends, useFileServer, whole } from '../fixtures/file-server.js';
import { useOwnHome } from '../fixtures/own-home.js';

const triples = Buffer.from('Glass Harbor\tdirected_by\tAda Quill\nPaper Moons\tdirected_by\tAda Quill\n');
const questions = Buffer.from(
  ['Glass Harbor', 'Paper Moons']
    .map((film) => ({ question: `who directed ${film}`, topics: [film], answers: ['Ada Quill'] }))
    .map((row) => `${JSON.stringify(row)}\n`)
    .join(''),
);

useOwnHome();
const server = useFileServer(() => whole(triples));
afterEach(() => {
  delete env.KGWALK_DOWNLOADS_BASE;
  (releases as Release[]).splice(0, (releases as Release[]).length, ...published);
});
const published = [...releases];

/** A release of two files, which the test's server has. */
function publish(): void {
  (releases as Release[]).push({
    name: 'custom',
    about: 'two films',
    licence: 'MIT',
    page: 'https://example.org/films',
    files: [
      { name: 'triples.tsv', url: `${server.origin}/triples.tsv`, sha256: hashOf(triples) },
      { name: 'questions.jsonl', url: `${server.origin}/questions.jsonl`, sha256: hashOf(questions) },
    ],
  });
}

const downloads = () => join(env.KGWALK_HOME!, 'downloads', 'custom');

describe('kgwalk datasets get', () => {
  test('shows the licence, downloads and imports; a second time nothing comes again', async () => {
    publish();
    server.answers = [whole(triples), whole(questions)];
    const { exitCode, out, err } = await kgwalk('datasets', 'get', 'custom', '--name', 'films');
    expect([exitCode, err]).toEqual([0, 'custom from https://example.org/films\nlicence: MIT\n']);
    expect(out).toMatch(/^imported films .*The files stay at /s);
    expect(readdirSync(downloads()).sort()).toEqual(['questions.jsonl', 'triples.tsv']);
    server.asked = [];
    await kgwalkJson('datasets', 'get', 'custom', '--name', 'again');
    expect(server.asked).toEqual([]);
    expect((await kgwalk('datasets', 'list')).out).toMatch(/again .*\nfilms /s);
  });

  test('resumes after a break and leaves complete files alone', async () => {
    publish();
    server.answers = [whole(triples), sends(questions, 30, 'cut'), says(404)];
    expect((await kgwalk('datasets', 'get', 'custom')).exitCode).toBe(1);
    expect(readdirSync(downloads()).sort()).toEqual(['questions.jsonl.download', 'triples.tsv']);
    server.asked = [];
    server.answers = [whole(questions)];
    expect((await kgwalk('datasets', 'get', 'custom', '--no-import')).out).toBe(`${downloads()}\n`);
    expect(server.asked.map(({ url, headers }) => [url, headers.range])).toEqual([['/questions.jsonl', 'bytes=30-']]);
  });

  test('imports nothing where a file is another than the one that is meant', async () => {
    env.KGWALK_DOWNLOADS_BASE = server.origin;
    const { exitCode, err } = await kgwalk('datasets', 'get', 'opendialkg');
    expect(exitCode).toBe(3);
    expect(err).toMatch(/licence: CC-BY-NC-4\.0.*expected git blob dd056aeb\w+, got /s);
    expect(server.asked[0]!.url).toMatch(
      /^\/raw\.githubusercontent\.com\/facebookresearch\/opendialkg\/\w{40}\/data\/opendialkg\.csv$/,
    );
    expect(existsSync(join(env.KGWALK_HOME!, 'datasets'))).toBe(false);
  });

  test.each(['metaqa', 'webqsp', 'webquestions'])('of %s, says where it is and how to import it', async (name) => {
    const { exitCode, out } = await kgwalk('datasets', 'get', name);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/Its page: https:\/\//);
    expect(out).toContain(`Then: kgwalk datasets import ${name} --from DIR`);
    expect(server.asked).toEqual([]);
  });

  test('of what is no release, names the nearest one', async () => {
    const { exitCode, err } = await kgwalk('datasets', 'get', 'opendialgk');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('Did you mean "opendialkg"?')]);
  });
});

const shared = env.KGWALK_TEST_DATA;
if (!shared)
  stderr.write('skipped: PathQuestion itself (set KGWALK_TEST_DATA to the folder that holds data/pathquestion)\n');

(shared ? test : test.skip)('the real PathQuestion has the hashes of the registry, and is imported', async () => {
  const folder = join(shared!, 'data', 'pathquestion');
  env.KGWALK_DOWNLOADS_BASE = server.origin;
  server.answers = [
    (request, response) => whole(readFileSync(join(folder, basename(request.url!))))(request, response),
  ];
  expect(await kgwalkJson('datasets', 'get', 'pathquestion')).toMatchObject({ name: 'pathquestion' });
  expect(server.asked).toHaveLength(4);
});
