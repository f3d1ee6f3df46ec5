import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countReachable } from '../../../src/kg/breadth-first.js';
import { GraphBuilder } from '../../../src/kg/build-graph.js';
import { type Frontier, initialFrontier, stepFrontier } from '../../../src/kg/frontier.js';
import { type Graph, unknownId } from '../../../src/kg/graph.js';
import { checkProperty } from '../../fixtures/property.js';
import { type Ids, numberedGraph } from '../../fixtures/triple-columns.js';

const id = fc.integer({ min: 0, max: 7 });
const edges = fc.array(fc.tuple(id, fc.integer({ min: 0, max: 1 }), id), { maxLength: 40 });
const topics = fc.uniqueArray(id, { minLength: 1, maxLength: 3 });

/** One step, triple by triple. */
function plainStep(graph: Graph, from: Frontier, relation: number, excluded: readonly number[]): Frontier {
  const counts = new Map<number, number>();
  from.entities.forEach((head, i) => {
    for (let edge = graph.offsets[head]!; edge < graph.offsets[head + 1]!; edge++) {
      const tail = graph.tails[edge]!;
      if (graph.relations[edge] !== relation || excluded.includes(tail)) continue;
      counts.set(tail, (counts.get(tail) ?? 0) + from.counts[i]!);
    }
  });
  const entities = Int32Array.from(counts.keys()).sort();
  return { entities, counts: Float64Array.from(entities, (entity) => counts.get(entity)!) };
}

test('a step sums walks over the edges of its relation, walk after walk in one graph', () => {
  const walks = fc.array(fc.tuple(topics, fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 4 })));
  checkProperty(
    fc.property(edges, walks, (triples, drawn) => {
      const graph = numberedGraph(8, ['a', 'b'], triples);
      for (const [start, chain] of drawn) {
        let ours = initialFrontier(start);
        for (const relation of chain) {
          const plain = plainStep(graph, ours, relation, start);
          ours = stepFrontier(graph, ours, relation, start);
          expect(ours).toEqual(plain);
        }
      }
    }),
  );
});

test('a hub larger than the scratch is walked whole', () => {
  const size = 5000;
  const hub = Array.from({ length: size }, (_, i): Ids => [0, 0, i + 1]);
  const graph = numberedGraph(size + 1, ['a'], hub);
  expect([...stepFrontier(graph, initialFrontier([0]), 0, [0]).entities]).toEqual(hub.map(([, , tail]) => tail));
});

test('distinct entities within the hops are counted, the start left out', () => {
  const builder = new GraphBuilder();
  for (const [head, tail] of ['ab', 'ac', 'bc', 'ba', 'cd', 'de']) builder.add(head!, 'r', tail!);
  const graph = builder.build('toy');
  const from = (name: string, hops: number) => countReachable(graph, graph.entityId(name), hops);
  expect([from('a', 0), from('a', 1), from('a', 2), from('a', 3), from('a', 9)]).toEqual([0, 2, 3, 4, 4]);
  expect(from('e', 2)).toBe(0);
  expect(countReachable(graph, unknownId, 2)).toBe(0);
});
