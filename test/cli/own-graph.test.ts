import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { readEvaluation } from '../../evaluation/keep.js';
import { questionMeasure } from '../../tasks/questions/score.js';
import { importMade } from '../../datasets/generated/import.js';
import { readWords, writeWords } from '../../datasets/generated/words-file.js';
import { openOwnGraph, openVocabulary, preparedName, wordsOf } from '../../tasks/own-graph.js';
import { configHash } from '../../src/run/config-values.js';
import { collectEnvironment } from '../../src/run/environment.js';
import { createRun } from '../../src/run/run-folder.js';
import { silentProgress } from '../../src/run/progress.js';
import { says, useChatServers } from '../fixtures/chat-server.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';

const films = [
  ...[
    ['Heat', 'Mann', '1995', 'crime'],
    ['Collateral', 'Mann', '2004', 'crime'],
    ['Tenet', 'Nolan', '2020', 'fiction'],
  ],
  ...[
    ['Dunkirk', 'Nolan', '2017', 'war'],
    ['Juno', 'Reitman', '2007', 'comedy'],
    ['Thief', 'Mann', '1981', 'crime'],
  ],
].flatMap(([film, director, year, genre]) => [
  `${film}\tdirected_by\t${director}`,
  `${film}\trelease_year\t${year}`,
  `${film}\thas_genre\t${genre}`,
]);

const fileOf = (lines: readonly string[], name = 'films.tsv') =>
  join(folderWith({ [name]: `${lines.join('\n')}\n` }), name);

const chatServer = useChatServers();
const home = useSharedHome(async () => {
  env.KGWALK_RUNS = folderWith({});
});

const datasets = () => (existsSync(join(home(), 'datasets')) ? readdirSync(join(home(), 'datasets')).sort() : []);

/** Every file of a data set. */
function bytesOf(name: string): Record<string, string> {
  const folder = join(home(), 'datasets', name);
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'latin1')]));
}

const work = {
  ...{ progress: silentProgress, note: () => {}, onTruncatedLog: () => {} },
  preset: () => Promise.reject(new Error('no settings')),
};

describe('kgwalk questions words', () => {
  test('writes a file next to the graph that reads as it was written', async () => {
    const graph = fileOf(films);
    const { file, relations, unclear } = await kgwalkJson<{ file: string; relations: number; unclear: string[] }>(
      ...['questions', 'words', graph, '--encoder', 'hashed:32'],
    );
    expect({ file, relations, unclear }).toEqual({
      file: graph.replace('.tsv', '.words.yaml'),
      relations: 3,
      unclear: [],
    });
    const text = readFileSync(file, 'utf8');
    const own = await openOwnGraph(graph);
    expect(writeWords(readWords(file, own.graph), openVocabulary(work).name)).toBe(text);
    expect(text).toContain('director: name');
  });

  test('never writes over the corrections of an owner unless it is forced to', async () => {
    const graph = fileOf(films);
    const words = ['questions', 'words', graph, '--encoder', 'hashed:32'];
    await kgwalk(...words);
    const file = graph.replace('.tsv', '.words.yaml');
    const corrected = readFileSync(file, 'utf8').replace('director: name', 'helmer: owner');
    writeFileSync(file, corrected);
    const { exitCode, err } = await kgwalk(...words);
    expect([exitCode, readFileSync(file, 'utf8')]).toEqual([2, corrected]);
    expect(err).toMatch(/expected a file that is not there yet.*\n.*--force/);
    expect((await kgwalk(...words, '--force')).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).not.toContain('helmer');
  });
});

describe('kgwalk questions make', () => {
  const small = ['--encoder', 'hashed:32', '--count', '60'];

  test('makes the same bytes twice, others by another seed, and says how', async () => {
    const graph = fileOf(films);
    const make = ['questions', 'make', graph, ...small, '--name', 'made'];
    const manifest = await kgwalkJson<{ generated: object; labels: string[]; subsets: object }>(...make);
    expect(manifest).toMatchObject({
      ...{ format: 'generated', labels: ['generated'] },
      generated: { by: 'kgwalk questions make', settings: { count: 60, seed: 0, hops: 3 } },
      subsets: { all: { files: { train: { questions: 54 }, valid: { questions: 6 } } } },
    } as object);
    const first = bytesOf('made');
    await kgwalk(...make);
    expect(bytesOf('made')).toEqual(first);
    await kgwalk(...make, '--seed', '1');
    expect(bytesOf('made')).not.toEqual(first);
  });

  test('shows questions with their chains and writes nothing', async () => {
    const before = datasets();
    const { out, exitCode } = await kgwalk('questions', 'make', fileOf(films), '--encoder', 'hashed:32', '--show', '5');
    expect([exitCode, out.trim().split('\n').length, datasets()]).toEqual([0, 6, before]);
    expect(out).toMatch(/~?(directed_by|release_year|has_genre)/);
  });

  test('asks in the words of the owner alone, and takes questions of theirs as the test part', async () => {
    const graph = fileOf(films);
    writeFileSync(graph.replace('.tsv', '.words.yaml'), 'relations: { directed_by: { tailIs: [helmer] } }\n');
    const test = fileOf(['{"question": "who made [Heat]", "answers": ["Mann"]}'], 'mine.jsonl');
    await kgwalk('questions', 'make', graph, ...small, '--name', 'owned', '--test', test);
    const { 'questions.all.train.jsonl': train, 'questions.all.test.jsonl': own } = bytesOf('owned');
    const chains = train!
      .trim()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as { chains: string[][] }).chains[0]!);
    expect(new Set(chains.map((one) => one.replace('~', '')))).toEqual(new Set(['directed_by']));
    expect(train).toContain('helmer');
    expect(own).toContain('who made Heat');
  });

  test('takes the wordings of a model that name their own relation, asks once, and says so in the record', async () => {
    const server = await chatServer(says('{"items": ["genre kind", "director person"]}'));
    const model = `${server.url}#m`;
    const make = ['questions', 'make', fileOf(films), ...small, '--name', 'said', '--paraphrase', model];
    const first = await kgwalk(...make, '--json');
    const { settings } = (JSON.parse(first.out) as { generated: { settings: Record<string, unknown> } }).generated;
    const { calls } = server;
    expect(settings).toMatchObject({ paraphrase: expect.stringContaining(server.url), wordingsAsked: calls.length });
    expect(settings.wordingsKept).toBeGreaterThan(0);
    expect(first.err).toContain(`${calls.length} requests, ${settings.wordingsKept as number} kept`);
    const made = bytesOf('said');
    expect(made['questions.all.train.jsonl']).toMatch(/genre kind|director person/);
    await kgwalk(...make);
    expect([server.calls.length, bytesOf('said')]).toEqual([settings.wordingsAsked, made]);
  });

  test('refuses wordings of a simulated model', async () => {
    const make = ['questions', 'make', fileOf(films), ...small, '--name', 'said', '--paraphrase', 'oracle:0'];
    expect((await kgwalk(...make)).err).toMatch(/expected a real model, got oracle:0, at --paraphrase/);
  });

  test.each([
    ['no triples', [''], '', /expected triples, got none/],
    ['one relation', ['a\tnear\tb', 'b\tnear\tc'], '', /expected several relations, got only near/],
    ['relations whose names say nothing', ['a\tp17\tb', 'b\tp31\tc'], '', /expected words for the relations/],
    ['the words of another graph', films, 'relations: { plays_for: { tailIs: [team] } }', /no relation "plays_for"/],
    ['words that are no YAML', films, 'relations: [', /expected words of relations, got/],
    ['words of an unknown kind', films, 'relations: { directed_by: { tailWas: [helmer] } }', /tailWas/],
    ['no name', films, '', /expected a name for the data set/],
  ])('refuses %s', async (what, lines, words, message) => {
    const graph = fileOf(lines);
    if (words !== '') writeFileSync(graph.replace('.tsv', '.words.yaml'), words);
    const name = what === 'no name' ? [] : ['--name', 'refused'];
    const { exitCode, err } = await kgwalk('questions', 'make', graph, ...small, ...name);
    expect([exitCode > 0, datasets().includes('refused')]).toEqual([true, false]);
    expect(err).toMatch(message);
  });
});

describe('readers over a graph without questions', () => {
  const graph = fileOf(films);
  let runs: string[];
  let trained: Awaited<ReturnType<typeof kgwalk>>;

  beforeAll(async () => {
    // In the place of 20,000 questions.
    const own = await openOwnGraph(graph);
    const vocabulary = openVocabulary(work);
    const words = await wordsOf(own, vocabulary, {}, work);
    const name = await preparedName(graph);
    await importMade(own, words, vocabulary, { name, count: 200, seed: 0, hops: 3, topicsReturn: false });
    const fit = ['steps=20', 'evalEvery=20', 'batchSize=16'].flatMap((one) => ['--set', `reader.fit.${one}`]);
    trained = await kgwalk('train', '--graph', graph, ...fit);
    runs = [0, 1, 2].map((seed) => join(env.KGWALK_RUNS!, `${name}-s${seed}`));
  });

  test('are trained with three seeds by chains, and answer examples', () => {
    expect(trained).toMatchObject({ exitCode: 0 });
    expect(trained.out.split('\n').slice(0, 3)).toEqual(runs);
    expect(trained.out.match(/, read as /g)).toHaveLength(3);
    expect(trained.err).toContain(`ask --graph ${graph}`);
    expect(readFileSync(join(runs[0]!, 'config.yaml'), 'utf8')).toMatch(/supervision: chain/);
  });

  test('answer at once, by the graph or by name, and say how each read the question', async () => {
    const before = runs.map((run) => readFileSync(join(run, 'metrics.jsonl'), 'utf8'));
    const asked = await kgwalk('ask', '--graph', graph, 'who directed [Heat]', '--json');
    expect(asked.err).toBe('');
    expect(runs.map((run) => readFileSync(join(run, 'metrics.jsonl'), 'utf8'))).toEqual(before);
    const json = JSON.parse(asked.out) as { agree: boolean; answers: string[]; readings: { runs: string[] }[] };
    expect(json.readings.flatMap((one) => one.runs)).toHaveLength(3);
    expect(json.answers.length > 0).toBe(json.agree);
    expect(await kgwalkJson('ask', runs.join(','), 'who directed [Heat]')).toEqual(json);
  });

  test('answer without loading what trains, nor a model whose vectors are cached', () => {
    const folder = folderWith({});
    const words = ['dist/cli/main.js', 'ask', '--graph', graph, 'who directed [Heat]'];
    const { status } = spawnSync(execPath, words, { env: { ...env, NODE_V8_COVERAGE: folder } });
    const [covered] = readdirSync(folder);
    const { result } = JSON.parse(readFileSync(join(folder, covered!), 'utf8')) as { result: { url: string }[] };
    const loaded = result.flatMap(({ url }) => /(plans|tasks|node-llama-cpp|yaml)\/.*/.exec(url)?.[0] ?? []);
    expect([status, loaded]).toEqual([0, expect.arrayContaining(['tasks/own-graph.js'])]);
    expect(loaded.filter((one) => /^(node-llama-cpp|plans|tasks\/train)/.test(one))).toEqual([]);
  });

  test('are others once the owner has changed a word, and the same for a copy of the graph', async () => {
    const copy = fileOf(films, 'copied.tsv');
    const own = await openOwnGraph(copy);
    const name = await preparedName(graph);
    expect(await preparedName(copy)).toBe(name);
    writeFileSync(own.wordsFile, 'relations: { directed_by: { tailIs: [helmer] } }\n');
    expect(await preparedName(copy)).not.toBe(name);
  });

  test('are measured on questions of the owner', async () => {
    const lines = [
      '{"question": "who directed [Heat]", "answers": ["Mann"], "chain": ["directed_by"]}',
      '{"question": "what is the genre of [Dunkirk]", "answers": ["war"]}',
    ];
    const evaluate = (some: readonly string[]) => ['evaluate', runs[0]!, '--questions', fileOf(some, 'mine.jsonl')];
    const { n, split, hashes } = await kgwalkJson<{ n: number; split: string; hashes: object }>(...evaluate(lines));
    expect([n, split, Object.keys(hashes).includes('questions')]).toEqual([2, 'mine.jsonl', true]);
    const all = await kgwalk('evaluate', runs.join(','), ...evaluate(lines).slice(2));
    const [, kept] = /saved: (.*)/.exec(all.out)!;
    const { labels, run, metrics } = readEvaluation(kept!, questionMeasure).record;
    expect([labels, run?.split(',').length, metrics.abstained?.n]).toEqual([undefined, 3, 2]);
    const page = readFileSync((await kgwalk('report', kept!)).out.trim(), 'utf8');
    expect(page).toMatch(/Risk and coverage[^]*right among the surest/);
    expect(page).toContain('mine.jsonl');
    const broken = await kgwalk(...evaluate([lines[0]!.replace('directed_by', 'filmed_by')]));
    expect([broken.exitCode > 0, broken.err]).toEqual([true, expect.stringContaining('filmed_by')]);
    expect((await kgwalk(...evaluate(['']))).err).toMatch(/expected questions, got none.*mine\.jsonl/);
  });

  test('as one say what each of them says, and nothing where they differ', async () => {
    const answersOf = async (run: string) => {
      const { saved } = await kgwalkJson<{ saved: string }>(
        'evaluate',
        run,
        '--split',
        'valid',
        '--evaluations',
        folderWith({}),
      );
      return readEvaluation(dirname(saved), questionMeasure).rows.map(({ entities }) => entities.toSorted());
    };
    const each = [await answersOf(runs[0]!), await answersOf(runs[1]!), await answersOf(runs[2]!)];
    const alike = each[0]!.map((entities, i) =>
      each.every((one) => String(one[i]) === String(entities)) ? entities : [],
    );
    expect(await answersOf(runs.join(','))).toEqual(alike);
    expect(alike).not.toEqual(each[0]);
    expect(alike.some((entities) => entities.length > 0)).toBe(true);
  });

  test('agree with no run over anything else', async () => {
    const folder = join(folderWith({}), 'links');
    const config = { env: { id: 'kgwalk/LinkQuery-v1' } };
    const environment = collectEnvironment({ configHash: configHash(config), argv: [] });
    createRun({ folder, config, environment }).close();
    const { err } = await kgwalk('evaluate', `${runs[0]!},${folder}`);
    expect(err).toMatch(/expected runs over questions, which agree or not, got links/);
  });

  test('are refused by wrong settings, or a graph that is not there, before anything is made', async () => {
    const before = datasets();
    const wrong = await kgwalk('train', '--graph', fileOf(films.slice(2)), '--set', 'reader.fit.step=4');
    expect([wrong.exitCode > 0, wrong.err, datasets()]).toEqual([true, expect.stringContaining('step'), before]);
    const { err } = await kgwalk('ask', '--graph', 'nowhere.tsv', 'who directed [Heat]');
    expect(err).toMatch(/expected a file of triples, got none, at nowhere.tsv/);
  });

  test('are refused by a graph with one relation before anything is made', async () => {
    const { err, exitCode } = await kgwalk('ask', '--graph', fileOf(['a\tnear\tb']), 'what is near [a]');
    expect([exitCode > 0, err]).toEqual([true, expect.stringContaining('expected several relations')]);
  });
});
