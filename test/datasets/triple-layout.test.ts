import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { collectTriples } from '../../datasets/importer.js';
import { layoutOf, type TripleSettings } from '../../datasets/triple-layout.js';
import { folderWith } from '../fixtures/tiny-release.js';

async function read(text: string, given: TripleSettings = {}) {
  const file = join(folderWith({ 'kg.txt': text }), 'kg.txt');
  const notes: string[] = [];
  const graph = (await collectTriples(file, (await layoutOf(file, given, notes)).read)).build('graph');
  const triples = graph.entityNames.flatMap((head, entity) =>
    [...graph.relations.slice(graph.offsets[entity], graph.offsets[entity + 1])].map(
      (relation, i) =>
        `${head}>${graph.relationNames[relation]}>${graph.entityNames[graph.tails[graph.offsets[entity]! + i]!]}`,
    ),
  );
  return { triples, notes: notes.join('\n') };
}

const lines = (...rows: string[]) => rows.map((row) => `${row}\n`).join('');
/** Entities a0, a1, … in a ring and a relation of two, in the order of the letters. */
const ring = (order: string, name = (part: string) => part, more: Record<string, (i: number) => string> = {}) =>
  Array.from({ length: 8 }, (_, i) => {
    const names = [`a${i}`, i % 2 ? 'likes' : 'knows', `a${(i + 1) % 8}`].map(name);
    return [...order].map((letter) => more[letter]?.(i) ?? names['hrt'.indexOf(letter)]!);
  });
const tabs = (rows: string[][]) => lines(...rows.map((row) => row.join('\t')));
const ringTriples = Array.from({ length: 8 }, (_, i) => `a${i}>${i % 2 ? 'likes' : 'knows'}>a${(i + 1) % 8}`);

describe('lines of triples', () => {
  test.each<[what: string, text: string, note: string]>([
    ['head, relation, tail with tabs', tabs(ring('hrt')), ''],
    ['bars', lines(...ring('hrt').map((row) => row.join('|'))), ''],
    ['semicolons', lines(...ring('hrt').map((row) => row.join(';'))), 'fields are separated by ";"'],
    ['commas and spaces', lines(...ring('hrt').map((row) => row.join(', '))), 'fields are separated by ", "'],
    ['spaces', lines(...ring('hrt').map((row) => row.join(' '))), 'fields are separated by " "'],
    ['a header', `head\trelation\ttail\n${tabs(ring('hrt'))}`, '"head\\trelation\\ttail" are no triples'],
    [
      'a header of letters and a rule',
      `S\tP\tO\n-\t-\t-\n${tabs(ring('hrt'))}`,
      '"S\\tP\\tO" and "-\\t-\\t-" are no triples',
    ],
    [
      'a header that gives the order',
      `target\tsource\ttype\n${tabs(ring('thr'))}`,
      'columns are read as thr, h the head, r the relation, t the tail, as the header',
    ],
    [
      'Neo4j',
      `:START_ID(A),:END_ID(A),:TYPE\n${lines(...ring('htr').map((row) => row.join(',')))}`,
      'columns are read as htr',
    ],
    ['a count', `8\n${tabs(ring('hrt'))}`, '"8" are no triples'],
    ['OpenKE', `8\n${lines(...ring('htr').map((row) => row.join(' ')))}`, 'columns are read as htr'],
    ['head, tail, relation', tabs(ring('htr')), 'columns are read as htr'],
    ['relation, head, tail', tabs(ring('rht')), 'columns are read as rht'],
    ['brackets', tabs(ring('hrt', (name) => `<${name}>`)), 'names stand in brackets'],
    ['quotes', tabs(ring('hrt', (name) => `"${name}"`)), 'names stand in quotes'],
    [
      'YAGO',
      tabs(ring('ihrtv', (name) => `<${name}>`, { i: (i) => `<id_${i}>`, v: () => '' })),
      '2 of 5 columns were left out',
    ],
    [
      'ConceptNet',
      tabs(
        ring('urhtj', (name) => (/^a/.test(name) ? name : `/r/${name}`), {
          u: (i) => `/a/${i}`,
          j: () => '{"weight": 1.0}',
        }),
      ).replaceAll('/r/', ''),
      'columns are read as .rht',
    ],
    ['weights', tabs(ring('hrtw', undefined, { w: (i) => `0.${i}` })), '1 of 4 columns were left out'],
  ])('%s', async (_, text, note) => {
    const { triples, notes } = await read(text);
    expect(triples.sort()).toEqual(ringTriples);
    if (note === '') expect(notes).toBe('');
    else expect(notes).toContain(note);
  });

  test('of a middle column like one of entities are said', async () => {
    const { notes } = await read(lines(...Array.from({ length: 20 }, (_, i) => `u${i}\ti${i % 12}\tbuys`)));
    expect(notes).toContain('the relation column has 12 names');
  });

  test('of CSV may have separators, quotes and line ends in names', async () => {
    const { triples } = await read(lines('"Doe, Jane",knows,Bob', '"say ""hi""",in,"two\nlines"', '5" disk,in,Bob'));
    expect(triples.sort()).toEqual(['5" disk>in>Bob', 'Doe, Jane>knows>Bob', 'say "hi">in>two\nlines']);
  });

  test('are read as the settings say', async () => {
    expect((await read(lines('a|b\tr|c'), { separator: 'bar', columns: 'htr' })).triples).toEqual(['a>c>b\tr']);
    expect((await read(`head\trelation\ttail\n${tabs(ring('hrt'))}`, { header: 0 })).triples).toHaveLength(9);
    expect((await read(tabs(ring('hrt', (name) => `<${name}>`)), { enclosed: 'none' })).triples).toContain(
      '<a0>><knows>><a1>',
    );
    expect((await read(lines('2010\ta\tr\tb', '2011\tc\tr\td'), { columns: '.hrt' })).triples).toEqual([
      'a>r>b',
      'c>r>d',
    ]);
    for (const given of [{ columns: 'hht' }, { header: -1 }, { separator: '' }]) {
      await expect(read(tabs(ring('hrt')), given)).rejects.toMatchObject({ code: 'usage' });
    }
  });

  test('keep words of headers that are names elsewhere, names in brackets beside others, and one line', async () => {
    expect((await read(`head\trelation\ttail\n${tabs(ring('hrt'))}a1\tknows\thead\n`)).triples).toContain(
      'head>relation>tail',
    );
    expect((await read('<a>\tr\tb\nc\tr\td\n')).triples).toContain('<a>>r>b');
    expect((await read('head\trelation\ttail\n')).triples).toEqual(['head>relation>tail']);
  });

  test('of several columns of names are refused with their places; broken lines with what was expected', async () => {
    const dated = tabs(ring('hrtd', undefined, { d: (i) => (i % 3 ? 'May' : 'June') }));
    await expect(read(dated)).rejects.toThrow(/expected three columns of names, got 4 \(1 "a0", 2 "knows"/);
    await expect(read(`${tabs(ring('hrt'))}x\ty\n`)).rejects.toThrow(/kg\.txt:9: expected 3 fields, got 2/);
    await expect(read(`a,b,c\n"d,e,f\n`)).rejects.toThrow(/expected CSV, got/);
  });
});
