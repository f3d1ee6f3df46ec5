import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  DialogueScratch,
  type FrozenVectors,
  NameIndex,
  tokenize,
} from '../../../../agents/walker/features/dialogue-scratch.js';
import type { WalkTask } from '../../../../datasets/walk-sample.js';
import { Rng } from '../../../../src/run/seeds.js';
import { laterSample } from '../../../fixtures/toy-walker.js';
import { graphOf, sampleOf, toyTwoHop } from '../../../fixtures/toy-walks.js';
import { checkProperty } from '../../../fixtures/property.js';

const { graph, samples } = toyTwoHop();
const names = new NameIndex(graph);
/** An odd width, so that the last dimension is not forgotten. */
const dim = 5;
const rng = Rng.named(1, 'test/scratch');
const random = (rows: number) => Float32Array.from({ length: rows * dim }, () => rng.normal());
const vectors: FrozenVectors = { dim, entities: random(graph.numEntities), relations: random(graph.numRelations) };
const queries = random(12);
const query = (i: number) => queries.subarray(i * dim, (i + 1) * dim);

const gold = [['film', 'genre', 'heist']] as const;
const dialogues: WalkTask[] = [
  ...samples.map(({ task }) => task),
  laterSample(graph, 'a', 'a', ['Nolan of Tenet', 'the film, not London'], [[['page', 'acted_in', 'juno']]], gold).task,
  laterSample(graph, 'b', 'b', ['juno, juno', 'Washington'], [gold, [['nolan', 'born_in', 'london']]], gold).task,
];

/** All that a scratch says of its dialogue. */
function contents(scratch: DialogueScratch) {
  const entities = graph.entityNames.map((_, entity) => entity);
  return {
    flags: Array.from(scratch.flags),
    nearLast: Array.from(scratch.nearLast),
    nearEarlier: Array.from(scratch.nearEarlier),
    overlapLast: entities.map((entity) => scratch.overlapLast(entity)),
    overlapEarlier: entities.map((entity) => scratch.overlapEarlier(entity)),
    relations: graph.relationNames.map((_, relation) => scratch.cosineLastRelation(relation)),
    last: entities.map((entity) => scratch.cosineLastEntity(entity)),
    window: entities.map((entity) => scratch.cosineWindowEntity(entity)),
  };
}

const freshScratch = () => new DialogueScratch(graph, names, vectors);
const opened = (scratch: DialogueScratch, which: number) => {
  scratch.open(dialogues[which]!, query(which), query(which + 1));
  return contents(scratch);
};

describe('the scratch of a dialogue', () => {
  test('does not depend on dialogues opened before', () => {
    const alone = dialogues.map((_, which) => opened(freshScratch(), which));
    checkProperty(
      fc.property(fc.array(fc.nat(dialogues.length - 1), { minLength: 1, maxLength: 8 }), (order) => {
        const scratch = freshScratch();
        for (const which of order) expect(opened(scratch, which)).toEqual(alone[which]);
      }),
      { numRuns: 40 },
    );
  });

  test('is empty for a dialogue that says nothing', () => {
    const scratch = freshScratch();
    opened(scratch, dialogues.length - 1);
    const silent = { ...dialogues[0]!, messages: [], earlierPaths: [] };
    scratch.open(silent, new Float32Array(dim), new Float32Array(dim));
    for (const values of Object.values(contents(scratch))) expect(new Set(values)).toEqual(new Set([0]));
  });

  test('gives dot products with the opened vectors', () => {
    const { relations, last, window } = opened(freshScratch(), 2);
    const dot = (table: Float32Array, row: number, vector: Float32Array) =>
      vector.reduce((sum, value, j) => sum + value * table[row * dim + j]!, 0);
    relations.forEach((value, r) => expect(value).toBeCloseTo(dot(vectors.relations, r, query(2)), 5));
    last.forEach((value, e) => expect(value).toBeCloseTo(dot(vectors.entities, e, query(2)), 5));
    window.forEach((value, e) => expect(value).toBeCloseTo(dot(vectors.entities, e, query(3)), 5));
  });

  test('weighs shared words by how rare they are among names', () => {
    const scratch = freshScratch();
    scratch.open(sampleOf(graph, 'x', 'FILM and Tenet', 'film', gold).task, query(0), query(1));
    // Every name here is one distinct word.
    expect(scratch.overlapLast(graph.entityId('tenet'))).toBe(1);
    expect(scratch.overlapLast(graph.entityId('juno'))).toBe(0);
    expect(scratch.overlapEarlier(graph.entityId('tenet'))).toBe(0);
  });

  test('passes over names of earlier paths that the graph lacks', () => {
    const scratch = freshScratch();
    const task = { ...dialogues[0]!, messages: [], earlierPaths: [[[-1, -1, graph.entityId('juno')]] as const] };
    scratch.open(task, query(0), query(1));
    expect(Array.from(scratch.flags).flatMap((bits, entity) => (bits ? [graph.entityNames[entity]] : []))).toEqual([
      'juno',
    ]);
  });
});

function indexOf(...names: string[]) {
  const loops = names.map((name) => [name, 'r', name] as const);
  const graph = graphOf('names', loops);
  const index = new NameIndex(graph);
  const mentions = (text: string) => Array.from(index.read(text).mentions, (entity) => graph.entityNames[entity]);
  return { graph, index, mentions };
}

describe('tokens', () => {
  test('are lower-case runs of letters and digits without accents', () => {
    expect(tokenize("Pedro Almodóvar's 8½, (2019)!")).toEqual(['pedro', 'almodovar', 's', '81', '2', '2019']);
    expect(tokenize('…?!')).toEqual([]);
  });

  test('of an ASCII text are the same when an accented word follows', () => {
    checkProperty(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect([...tokenize(text), 'e']).toEqual(tokenize(`${text} é`));
      }),
    );
  });
});

describe('mentions in a message', () => {
  test('are whole names in whole words, in any case and with any punctuation between', () => {
    const { mentions } = indexOf('Inception', 'The Dark Knight', 'Dark');
    expect(mentions('I loved the dark-KNIGHT.')).toEqual(['The Dark Knight', 'Dark']);
    expect(mentions('The darkness of conceptions')).toEqual([]);
  });

  test('ignore accents on either side', () => {
    const { mentions } = indexOf('Amélie', 'Penelope Cruz');
    expect(mentions('Have you seen Amelie with Penélope Cruz?')).toEqual(['Amélie', 'Penelope Cruz']);
  });

  test('need not repeat a bracketed ending, but may', () => {
    const { mentions } = indexOf('It (2017 film)', 'Gravity (film)', '(500) Days of Summer');
    expect(mentions('Was gravity good?')).toEqual(['Gravity (film)']);
    expect(mentions('the gravity film')).toEqual(['Gravity (film)']);
    expect(mentions('days of summer')).toEqual([]);
    expect(mentions('500 Days of Summer')).toEqual(['(500) Days of Summer']);
  });

  test('find a long name whose beginning is no name, and one that another begins with', () => {
    const { mentions } = indexOf('Once Upon a Time', 'Once Upon a Time in America', 'Time');
    expect(mentions('once upon a time in america')).toEqual([
      'Once Upon a Time',
      'Once Upon a Time in America',
      'Time',
    ]);
    expect(mentions('once upon a time in paris')).toEqual(['Once Upon a Time', 'Time']);
  });

  test('find every entity of an ambiguous name, each once', () => {
    const { mentions } = indexOf('Gravity', 'Gravity (film)');
    expect(mentions('Gravity, gravity!')).toEqual(['Gravity', 'Gravity (film)']);
  });

  test('go up to names of eight tokens', () => {
    const eight = 'one two three four five six seven eight';
    const { mentions } = indexOf(eight, `${eight} nine`);
    expect(mentions(`so ${eight} nine it is`)).toEqual([eight]);
  });

  test('never find a name without letters or digits', () => {
    const { index, mentions } = indexOf('!!!', 'Inception');
    expect(mentions('!!! Inception')).toEqual(['Inception']);
    expect(index.nameWeight[0]).toBe(0);
  });
});

describe('weights of tokens', () => {
  test('are the logarithm of how rare a token is among names, summed over a name', () => {
    const { graph, index } = indexOf('Dark Knight', 'Dark Water', 'Dark Dark');
    const tokensOf = (entity: number) =>
      Array.from(index.tokenIds.subarray(index.tokenOffsets[entity], index.tokenOffsets[entity + 1]));
    const [dark, knight] = tokensOf(0);
    expect(tokensOf(graph.entityId('Dark Dark'))).toEqual([dark]);
    expect(index.numTokens).toBe(3);
    expect(index.inverseFrequency[dark!]).toBeCloseTo(Math.log(4 / 3), 6);
    expect(index.inverseFrequency[knight!]).toBeCloseTo(Math.log(4), 6);
    expect(index.nameWeight[0]).toBeCloseTo(Math.log(4 / 3) + Math.log(4), 6);
  });

  test('are kept for known tokens of a message only, each once', () => {
    const { index } = indexOf('Dark Knight');
    expect(Array.from(index.read('knight of the night, knight').tokens)).toEqual([
      index.tokenIds[1], // 'knight'
    ]);
  });

  test('a message is read once', () => {
    const { index } = indexOf('Dark Knight');
    expect(index.read('dark')).toBe(index.read('dark'));
  });
});
