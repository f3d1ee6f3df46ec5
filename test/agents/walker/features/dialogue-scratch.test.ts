import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DialogueScratch, type FrozenVectors, NameIndex } from '../../../../agents/walker/features/dialogue-scratch.js';
import type { WalkTask } from '../../../../datasets/walk-sample.js';
import { Rng } from '../../../../src/run/seeds.js';
import { laterSample } from '../../../fixtures/toy-walker.js';
import { sampleOf, toyTwoHop } from '../../../fixtures/toy-walks.js';

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
    fc.assert(
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
