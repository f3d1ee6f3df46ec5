import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { Graph } from '../../../src/kg/graph.js';
import { checkProperty } from '../../fixtures/property.js';
import { adjacencyOf } from '../../../src/kg/adjacency.js';
import { columnsOf, idsOf } from '../../fixtures/triple-columns.js';

function edgesOf(graph: Graph): string[] {
  return graph.entityNames.flatMap((head, id) => {
    const from = graph.offsets[id]!;
    return Array.from({ length: graph.degree(id) }, (_, i) => {
      const relation = graph.relationNames[graph.relations[from + i]!];
      return `${head} ${relation} ${graph.entityNames[graph.tails[from + i]!]}`;
    });
  });
}

function builderOf(triples: readonly (readonly [string, string, string])[]): GraphBuilder {
  const builder = new GraphBuilder();
  for (const [head, relation, tail] of triples) builder.add(head, relation, tail);
  return builder;
}

describe('GraphBuilder', () => {
  test('numbers names by first appearance', () => {
    const graph = builderOf([
      ['b', 's', 'a'],
      ['a', 'r', 'c'],
    ]).build('toy');
    expect(graph.entityNames).toEqual(['b', 'a', 'c']);
    expect(graph.relationNames).toEqual(['s', 'r']);
    expect(graph.name).toBe('toy');
  });

  test('holds in proportion to what is kept, however often it is repeated, and builds the same', () => {
    const triples = fc.array(fc.tuple(...[6, 3, 6].map((most) => fc.integer({ min: 0, max: most }))), {
      maxLength: 300,
    });
    checkProperty(
      fc.property(triples, fc.integer({ min: 1, max: 20 }), (drawn, held) => {
        const [whole, small] = [new GraphBuilder(), new GraphBuilder(held)];
        for (const [head, relation, tail] of drawn) {
          for (const builder of [whole, small]) builder.add(`e${head}`, `r${relation}`, `e${tail}`);
        }
        const [one, other] = [whole, small].map((builder) => builder.build('toy', { addInverses: true })) as [
          Graph,
          Graph,
        ];
        expect(other.hash).toBe(one.hash);
        expect(small.numTriples).toBe(drawn.length);
        expect(small.numHeld).toBeLessThanOrEqual(Math.max(held, one.numEdges));
        small.add('e0', 'r0', 'e0');
        whole.add('e0', 'r0', 'e0');
        expect(small.build('toy').hash).toBe(whole.build('toy').hash);
      }),
      { numRuns: 200 },
    );
  });

  test('B-RoG-1: merges duplicates and keeps parallel relations', () => {
    const graph = builderOf([
      ['a', 'r', 'b'],
      ['a', 'r', 'b'],
      ['a', 's', 'b'],
    ]).build('toy');
    expect(edgesOf(graph)).toEqual(['a r b', 'a s b']);
  });

  test('adds the missing direction once, when asked', () => {
    const builder = builderOf([
      ['a', 'r', 'b'],
      ['b', '~r', 'a'],
      ['b', 's', 'c'],
    ]);
    expect(builder.hasInverses).toBe(true);
    expect(edgesOf(builder.build('as given')).sort()).toEqual(['a r b', 'b s c', 'b ~r a']);
    const both = builder.build('both', { addInverses: true });
    expect(edgesOf(both).sort()).toEqual(['a r b', 'b s c', 'b ~r a', 'c ~s b']);
    expect(both.inverseOf[both.relationId('s')]).toBe(both.relationId('~s'));
  });

  test('a graph is a snapshot: adding more later does not change it', () => {
    const builder = builderOf([['a', 'r', 'b']]);
    const before = builder.build('first');
    builder.add('b', 'r', 'c');
    expect(edgesOf(before)).toEqual(['a r b']);
    expect(before.numEntities).toBe(2);
    expect(builder.build('second').numEdges).toBe(2);
  });

  test('holds exactly the distinct triples that were added, however many', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', '');
    checkProperty(
      fc.property(fc.array(fc.tuple(name, name, name), { maxLength: 60 }), (triples) => {
        const expected = new Set(triples.map(([head, relation, tail]) => `${head} ${relation} ${tail}`));
        expect(new Set(edgesOf(builderOf(triples).build('toy')))).toEqual(expected);
      }),
    );
    const many = new GraphBuilder();
    for (let i = 0; i < 3000; i++) many.add(`e${i}`, 'r', `e${i + 1}`);
    expect(many.build('chain').numEdges).toBe(3000);
  });
});

describe('rows by entity', () => {
  const numEntities = 6;
  // Rows of more than 24 edges use another sort: few heads, many draws.
  const triple = fc.tuple(fc.nat(numEntities - 1), fc.nat(9), fc.nat(numEntities - 1));

  test('rows hold each distinct triple once, in order, however long', () => {
    checkProperty(
      fc.property(fc.array(triple, { maxLength: 400, size: 'max' }), (triples) => {
        const { offsets, relations, tails } = adjacencyOf(numEntities, 10, (take) => {
          for (const [head, relation, tail] of triples) take(head, relation, tail);
        });
        const found = Array.from({ length: numEntities }, (_, head) =>
          Array.from({ length: offsets[head + 1]! - offsets[head]! }, (_, i) => {
            const edge = offsets[head]! + i;
            return [head, relations[edge]!, tails[edge]!].join(' ');
          }),
        ).flat();
        // Single digits, so that string order is numeric order.
        expect(found).toEqual([...new Set(triples.map((one) => one.join(' ')))].sort());
        expect([relations.length, tails.length]).toEqual([found.length, found.length]);
      }),
    );
  });

  test('a graph that was shared is the same graph over the same memory', () => {
    const triples = columnsOf(idsOf('0 1 1, 0 0 2, 1 0 0'));
    const graph = new Graph('g', ['a', 'b', 'ä'], ['r', '~r'], triples, ['file.txt']);
    const shared = structuredClone(graph.shared());
    const twin = Graph.fromShared(shared);
    const { name, entityNames, relationNames, madeFrom } = graph;
    expect(twin).toMatchObject({ name, entityNames, relationNames, madeFrom });
    expect([twin.entityId('ä'), twin.entityName(1), twin.hash]).toEqual([2, 'b', graph.hash]);
    graph.tails[0] = 1;
    expect(twin.tails[0]).toBe(1);
  });
});
