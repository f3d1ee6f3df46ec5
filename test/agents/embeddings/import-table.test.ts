import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { describe, expect, test } from '@jest/globals';
import { readCheckpoint } from '../../../checkpoints/checkpoint.js';
import { knownAnswers } from '../../../src/embedding/known-answers.js';
import { Graph, inverseName } from '../../../src/kg/graph.js';
import { Rng } from '../../../src/run/seeds.js';
import { importTable, type ImportTableOptions } from '../../../agents/embeddings/import-table.js';
import { openLinkScorer } from '../../../agents/embeddings/link-scorers.js';
import { trainSettings } from '../../../agents/train-settings.js';
import { kgwalk, kgwalkJson } from '../../fixtures/command-line.js';
import { longTest } from '../../fixtures/long-tests.js';
import { npyBytes } from '../../fixtures/npy-files.js';
import { useOwnHome } from '../../fixtures/own-home.js';
import { tinyLinkFiles, tinyLinkWorld } from '../../fixtures/tiny-links.js';
import { folderWith, releaseFiles } from '../../fixtures/tiny-release.js';
import { tinyOverrides } from '../../fixtures/tiny-training.js';
import { ranksByScores } from '../../fixtures/rank-of.js';

useOwnHome();

const world = tinyLinkWorld();
const { graph } = world;
const plain = graph.relationNames.slice(0, graph.numRelations / 2);

/** Vectors drawn by a seed, of plain relations only, as another program has them. */
function drawn(width: number) {
  const rng = Rng.named(3, 'import');
  const values = (rows: number) => Float32Array.from({ length: rows * width }, () => rng.normal());
  return { entities: values(graph.numEntities), relations: values(plain.length) };
}

type Matrix = Float32Array | Float64Array;
type Files = Pick<ImportTableOptions, 'entities' | 'relations'>;

/** Files of vectors, each with its names, one row each. */
function filesWith(
  width: number,
  [entities, entityNames]: [Matrix, readonly string[]],
  [relations, relationNames]: [Matrix, readonly string[]],
): Files {
  const folder = folderWith({
    'e.npy': npyBytes(entities, width),
    'e.txt': entityNames.join('\n'),
    'r.npy': npyBytes(relations, width),
    'r.txt': relationNames.join('\n'),
  });
  const at = (part: 'e' | 'r') => ({ vectors: join(folder, `${part}.npy`), names: join(folder, `${part}.txt`) });
  return { entities: at('e'), relations: at('r') };
}

/** Entities backwards with their row numbers, and one that the graph lacks. */
function filesOf({ entities, relations }: { entities: Matrix; relations: Matrix }, width: number): Files {
  const order = [...graph.entityNames.keys()].reverse();
  const names = ['unknown', ...order.map((entity) => graph.entityNames[entity]!)];
  const rows = order.flatMap((row) => [...entities.subarray(row * width, (row + 1) * width)]);
  const kind = entities instanceof Float64Array ? Float64Array : Float32Array;
  const matrix = kind.from([...new Float32Array(width), ...rows]);
  return filesWith(width, [matrix, [...names.map((name, row) => `${row}\t${name}`), '']], [relations, plain]);
}

describe('imported vectors', () => {
  test.each([
    ['transe', 1, 5],
    ['transe', 2, 8],
    ['distmult', 2, 6],
    ['complex', 2, 8],
    ['complex', 2, 6],
  ] as const)('of %s (norm %d, %d numbers) rank as by the model’s own formula', async (model, norm, width) => {
    const { entities, relations } = drawn(width);
    const { file, dim, others, missing } = await importTable({
      ...{ name: 'theirs', model, norm, layout: 'halves', graph },
      ...filesOf({ entities: Float64Array.from(entities), relations }, width),
    });
    expect([existsSync(file), dim, others, missing]).toEqual([true, width, 1, 0]);
    const section = model === 'transe' ? 'transe' : 'bilinear';
    const settings = trainSettings.parse({ [section]: { imported: 'theirs' } });
    const { scorer, table } = await openLinkScorer(section, world, settings);
    expect([scorer.name, table.entities.length % graph.numEntities]).toEqual([model, 0]);

    const half = width / 2;
    const at = (rows: Float32Array, row: number) => rows.subarray(row * width, (row + 1) * width);
    /** The score of (head, plain relation, tail), as the papers write it. */
    const formula = (head: number, relation: number, tail: number) => {
      const [h, r, t] = [at(entities, head), at(relations, relation), at(entities, tail)];
      if (model === 'distmult') return h.reduce((sum, x, k) => sum + x * r[k]! * t[k]!, 0);
      if (model === 'complex') {
        return h.slice(0, half).reduce((sum, re, k) => {
          const [im, rr, ri, tr, ti] = [h[half + k]!, r[k]!, r[half + k]!, t[k]!, t[half + k]!];
          return sum + (re * rr - im * ri) * tr + (re * ri + im * rr) * ti;
        }, 0);
      }
      const parts = [...h].map((x, k) => x + r[k]! - t[k]!);
      return norm === 1 ? -parts.reduce((sum, part) => sum + Math.abs(part), 0) : -Math.hypot(...parts);
    };
    const numRelations = graph.numRelations;
    const byFormula = {
      name: model,
      ...{ numEntities: graph.numEntities, numRelations },
      score: formula,
      scoreTails(given: number, relation: number, out: Float64Array | Float32Array) {
        for (let other = 0; other < graph.numEntities; other++) {
          out[other] =
            relation < plain.length ? formula(given, relation, other) : formula(other, relation - plain.length, given);
        }
      },
    };
    expect(scorer.ranks(world.train, world.known)).toEqual(ranksByScores(byFormula, world.train, world.known));
  });

  test('of inverse relations are theirs where they are named: ~r', async () => {
    const { entities, relations } = drawn(8);
    const both = Float32Array.of(...relations, ...relations.map((value) => 2 - value));
    const files = filesWith(8, [entities, graph.entityNames], [both, graph.relationNames]);
    await importTable({ ...files, name: 'theirs', model: 'complex', layout: 'halves', graph });
    const settings = trainSettings.parse({ bilinear: { imported: 'theirs' } });
    const { scorer } = await openLinkScorer('bilinear', world, settings);
    const [re, im] = [both.subarray(32, 36), both.subarray(36, 40)];
    const [a, b] = [entities.subarray(0, 4), entities.subarray(4, 8)];
    const [c, d] = [entities.subarray(8, 12), entities.subarray(12, 16)];
    const score = a.reduce(
      (sum, x, k) => sum + (x * re[k]! - b[k]! * im[k]!) * c[k]! + (x * im[k]! + b[k]! * re[k]!) * d[k]!,
      0,
    );
    expect(scorer.score(0, plain.length, 1)).toBeCloseTo(score, 5);
  });

  test.each([
    ['complex', { layout: 'halves' }, '--layout halves'],
    ['complex', { layout: 'pairs' }, '--layout pairs'],
    ['transe', { norm: 1 }, '--norm 1'],
    ['transe', { norm: 2 }, '--norm 2'],
  ] as const)('of %s are ranked both ways, and kept the way that ranks better: %j', async (model, wanted, choice) => {
    // Facts are what these vectors rank first when they are read as wanted.
    const { entities, relations } = drawn(8);
    const files = filesWith(8, [entities, graph.entityNames], [relations, plain]);
    await importTable({ ...files, ...wanted, name: 'wanted', model, graph });
    const section = model === 'transe' ? 'transe' : 'bilinear';
    const settings = trainSettings.parse({ [section]: { imported: 'wanted' } });
    const { scorer } = await openLinkScorer(section, world, settings);
    const [heads, asked] = [[...graph.entityNames.keys()], plain.map((_, relation) => relation)];
    const pairs = heads.flatMap((head) => asked.map((relation) => [head, relation] as const));
    const firstTail = (head: number, relation: number) => {
      const scores = new Float64Array(graph.numEntities);
      scorer.scoreTails(head, relation, scores);
      return scores.indexOf(Math.max(...scores));
    };
    const triples = {
      heads: Int32Array.from(pairs, ([head]) => head),
      relations: Int32Array.from(pairs, ([, relation]) => relation),
      tails: Int32Array.from(pairs, (pair) => firstTail(...pair)),
    };
    const held = { triples, known: knownAnswers([triples]) };
    const { tried, metrics, file } = await importTable({ ...files, name: 'either', model, graph, held });
    expect(tried.map((one) => one.choice)).toEqual([choice, expect.not.stringMatching(choice)]);
    expect([tried[0]!.mrr, tried[0]!.mrr > tried[1]!.mrr]).toEqual([metrics.mrr, true]);
    const { tensors } = readCheckpoint(file);
    expect(tensors).toEqual(readCheckpoint(file.replace('either', 'wanted')).tensors);
  });

  test('of complex numbers are read as NumPy writes them, and refused under real models', async () => {
    const { entities, relations } = drawn(8);
    const pairs = filesWith(8, [entities, graph.entityNames], [relations, plain]);
    const folder = folderWith({
      'e.npy': npyBytes(entities, 8, { descr: '<c8', shape: `${graph.numEntities}, 4` }),
      'r.npy': npyBytes(relations, 8, { descr: '<c8', shape: `${plain.length}, 4` }),
    });
    const files = {
      entities: { ...pairs.entities, vectors: join(folder, 'e.npy') },
      relations: { ...pairs.relations, vectors: join(folder, 'r.npy') },
    };
    const one = await importTable({ ...files, name: 'one', model: 'complex', graph });
    const two = await importTable({ ...pairs, name: 'two', model: 'complex', layout: 'pairs', graph });
    expect(one.tried).toEqual(two.tried);
    expect(readCheckpoint(one.file).tensors).toEqual(readCheckpoint(two.file).tensors);
    await expect(importTable({ ...files, name: 'three', model: 'distmult', graph })).rejects.toThrow(
      'got complex ones',
    );
  });

  test('of an entity in a hundred may lack: it gets one of the usual length, the same each time', async () => {
    const names = Array.from({ length: 200 }, (_, i) => `e${i}`);
    const columns = { heads: Int32Array.of(0, 1), relations: Int32Array.of(0, 1), tails: Int32Array.of(1, 0) };
    const large = new Graph('large', names, ['r', inverseName('r')], columns);
    const vectors = Float32Array.from({ length: 198 * 8 }, (_, i) => Math.sin(i));
    const files = filesWith(8, [vectors, names.slice(2)], [vectors.slice(0, 8), ['r']]);
    const given = { ...files, model: 'transe' as const, graph: large };
    const first = await importTable({ ...given, name: 'one' });
    expect(first).toMatchObject({ missing: 2, others: 0 });
    const settings = trainSettings.parse({ transe: { imported: 'one' } });
    const data = { graph: large, train: columns, valid: columns };
    const { entities } = (await openLinkScorer('transe', data, settings)).table;
    const length = (row: number) => Math.hypot(...entities.subarray(row * 8, row * 8 + 8));
    expect([0, 1].every((row) => length(row) > 0.3 && length(row) < 3)).toBe(true);
    const again = await importTable({ ...given, name: 'two' });
    expect(again.metrics).toEqual(first.metrics);
  });

  const width = 8;
  const made = drawn(width);
  const good = (): ImportTableOptions => ({ name: 'theirs', model: 'complex', graph, ...filesOf(made, width) });
  const inPlaceOf = (part: 'entities' | 'relations', what: 'vectors' | 'names', content: string | Uint8Array) => {
    const options = good();
    const file = join(folderWith({ file: content }), 'file');
    return { ...options, [part]: { ...options[part], [what]: file } };
  };
  const vectors = (header = {}, values = made.relations, columns = width) =>
    inPlaceOf('relations', 'vectors', npyBytes(values, columns, header));
  const names = (lines: readonly string[]) => inPlaceOf('relations', 'names', lines.join('\n'));
  const strangers = Array.from({ length: graph.numEntities + 1 }, (_, i) => `x${i}`);
  const broken = made.relations.map(() => NaN);
  const wide = () => ({ ...good(), model: 'transe' as const, ...filesOf(drawn(4097), 4097) });
  test.each<[what: string, options: () => ImportTableOptions, message: string]>([
    ['a name that leads elsewhere', () => ({ ...good(), name: '../x' }), 'expected a name of letters'],
    ['a file of another kind', () => inPlaceOf('relations', 'vectors', 'PK\x03\x04'), 'expected a .npy file, got'],
    ['objects', () => vectors({ descr: '|O' }), 'got |O'],
    ['big-endian numbers', () => vectors({ descr: '>f4' }), 'got >f4'],
    ['columns first', () => vectors({ fortran: 'True' }), 'fortran_order'],
    ['a vector', () => vectors({ shape: '32,' }), 'the shape (32,)'],
    ['a file cut short', () => vectors({ shape: '90, 8' }), 'expected 90 rows of 32 bytes, got 128 bytes'],
    ['a shape that lies', () => vectors({ shape: '9007199254740991, 8' }), 'expected 9007199254740991 rows'],
    [
      'another width',
      () => vectors({}, made.relations.slice(0, 16), 4),
      'expected relations of 8 numbers, as entities',
    ],
    ['no number', () => vectors({}, broken), 'expected finite numbers'],
    ['too few names', () => names(plain.slice(1)), 'expected 4 names'],
    ['too many names', () => names([...plain, 'more']), 'got more'],
    ['a name twice', () => names(plain.map(() => plain[0]!)), 'expected each name once'],
    ['rows out of order', () => names(plain.map((name, i) => `${3 - i}\t${name}`)), 'expected row 0, got "3"'],
    ['a relation that is not there', () => names(['x', ...plain.slice(1)]), `got none of "${plain[0]}"`],
    ['another graph', () => inPlaceOf('entities', 'names', strangers.join('\n')), 'got those of 0 (and 17 others)'],
    ['rows that are too wide', wide, 'expected rows of at most 4096 numbers, got 4097'],
  ])('refuses %s, and keeps nothing', async (_, options, message) => {
    await expect(importTable(options())).rejects.toMatchObject({ message: expect.stringContaining(message) });
    expect(existsSync(join(env.KGWALK_HOME!, 'embeddings'))).toBe(false);
  });

  test('under a name that is taken are refused', async () => {
    await importTable(good());
    await expect(importTable(good())).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('a new name'),
    });
  });
});

describe('kgwalk embeddings import', () => {
  const words = (model: string, files: Files) => [
    ...['embeddings', 'import', 'theirs', '--model', model],
    ...['--entities', files.entities.vectors, '--entity-names', files.entities.names],
    ...['--relations', files.relations.vectors, '--relation-names', files.relations.names],
  ];

  test('of links: they rank, shape and start walks, and a check reports unknown sources', async () => {
    await kgwalk('datasets', 'import', 'triples', '--name', 'links', '--from', folderWith(tinyLinkFiles));
    const { exitCode, out, err } = await kgwalk(...words('complex', filesOf(drawn(8), 8)), '--dataset', 'links');
    expect([exitCode, out]).toEqual([
      0,
      expect.stringMatching(/^theirs: complex, 8 numbers a row[^]*of valid[^]*mrr 0\.\d{3}[^]*kept as --layout/),
    ]);
    expect(err).toContain('bilinear.imported=theirs');
    const { agents } = await kgwalkJson<{ agents: { agent: string }[] }>(
      ...['compare', 'bilinear:imported=theirs', 'random', '--dataset', 'links', '--split', 'valid'],
    );
    expect(agents.map(({ agent }) => agent)).toEqual(['complex', 'random']);
    const run = join(folderWith({}), 'run');
    const settings = [
      'data.dataset=links bilinear.imported=theirs linkWalker.vectors=bilinear linkWalk.shapingScorer=bilinear',
      'linkWalk.shaping=terminal clone.enabled=false ppo.init=scratch ppo.klCoef=0 ppo.updates=2',
      'ppo.samplesPerUpdate=4 ppo.minibatchSamples=4',
    ];
    const sets = settings.flatMap((line) => line.split(' ')).flatMap((one) => ['--set', one]);
    const trained = await kgwalk('train', 'links', '--run-dir', run, '--backend', 'simd', ...sets);
    expect([trained.exitCode, trained.exitCode ? trained.err : '']).toEqual([0, '']);
    const checked = await kgwalk('datasets', 'check', 'links', '--run', run);
    expect(checked.out).toMatch(/theirs, imported.*not known/);
    const missing = ['--set', 'transe.enabled=true', '--set', 'transe.imported=missing'];
    const other = await kgwalk('pretrain', 'links', '--dataset', 'links', ...missing);
    expect(other.err).toContain('expected imported vectors named missing, got none');
  });

  longTest('of dialogues: a walker reads them, and its run keeps them', async () => {
    await kgwalk('datasets', 'import', 'opendialkg', '--from', folderWith(releaseFiles));
    const { loadDialogueDataset } = await import('../../../datasets/dialogues/dialogue-dataset.js');
    const talked = await loadDialogueDataset('opendialkg').loadGraph();
    const rng = Rng.named(1, 'talked');
    const values = (rows: number) => Float32Array.from({ length: rows * 12 }, () => rng.normal());
    const { entityNames, relationNames } = talked;
    const files = filesWith(
      12,
      [values(entityNames.length), entityNames],
      [values(relationNames.length), relationNames],
    );
    expect(await kgwalk(...words('distmult', files), '--dataset', 'opendialkg')).toMatchObject({
      err: expect.stringContaining('expected data of links for DistMult or ComplEx'),
    });
    expect((await kgwalk(...words('transe', files), '--dataset', 'opendialkg')).exitCode).toBe(0);
    const run = join(folderWith({}), 'run');
    const settings = [...tinyOverrides, 'transe.imported=theirs'];
    const trained = await kgwalk(
      ...['train', 'opendialkg-tiny', '--run-dir', run, ...settings.flatMap((one) => ['--set', one])],
    );
    expect([trained.exitCode, trained.exitCode ? trained.err : '']).toEqual([0, '']);
    const evaluated = await kgwalkJson<{ n: number }>('evaluate', run, '--encoder', 'hashed:32');
    expect(evaluated.n).toBe(2);
    expect((await kgwalk('runs', 'verify', run)).exitCode).toBe(0);
  });
});
