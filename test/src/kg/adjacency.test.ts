import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { adjacencyOf } from '../../../src/kg/adjacency.js';
import { Graph } from '../../../src/kg/graph.js';
import { checkProperty } from '../../fixtures/property.js';
import { columnsOf, idsOf } from '../../fixtures/triple-columns.js';

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
