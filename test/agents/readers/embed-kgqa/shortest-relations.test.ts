import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ShortestRelations } from '../../../../agents/readers/embed-kgqa/shortest-relations.js';
import { Graph } from '../../../../src/kg/graph.js';
import { ShortestPaths } from '../../../../src/kg/paths-between.js';
import { checkProperty } from '../../../fixtures/property.js';

const numEntities = 7;

/** Graphs of some edges among few entities; more relations than one word of 32 bits has. */
const graphs = fc
  .array(fc.tuple(fc.nat(numEntities - 1), fc.nat(39), fc.nat(numEntities - 1)), { minLength: 4, maxLength: 30 })
  .map((triples) => {
    const column = (place: 0 | 1 | 2) => Int32Array.from(triples, (triple) => triple[place]);
    return new Graph(
      'drawn',
      Array.from({ length: numEntities }, (_, i) => `e${i}`),
      Array.from({ length: 40 }, (_, i) => `r${i}`),
      { heads: column(0), relations: column(1), tails: column(2) },
    );
  });

/** The sets of relations of all shortest paths, by listing the paths. */
const setsBetween = (graph: Graph, head: number, tail: number, horizon: number) =>
  new ShortestPaths(graph)
    .between(head, tail, { horizon, most: 10_000 })
    .map((path) => new Set(path.filter((_, index) => index % 2 === 0)));

describe('relations on shortest paths', () => {
  test('are counted as listing all paths counts them, the best path of an entity', () => {
    const wanted = fc.uniqueArray(fc.nat(39), { maxLength: 5 });
    checkProperty(
      fc.property(
        graphs,
        fc.nat(numEntities - 1),
        fc.integer({ min: 1, max: 3 }),
        wanted,
        (graph, topic, hops, some) => {
          const around = new ShortestRelations(graph);
          // What an earlier search left must not show.
          around.reached((topic + 1) % numEntities, 3, [1, 2]);
          const { entities, matches } = around.reached(topic, hops, some);
          const found = new Map([...entities].map((entity, i) => [entity, matches[i]]));
          for (let entity = 0; entity < numEntities; entity++) {
            const sets = entity === topic ? [] : setsBetween(graph, topic, entity, hops);
            const most = Math.max(...sets.map((set) => some.filter((relation) => set.has(relation)).length));
            expect(found.get(entity)).toBe(sets.length === 0 ? undefined : most);
          }
        },
      ),
    );
  });

  test('are shared out over the targets that are reached', () => {
    const targets = fc.uniqueArray(fc.nat(numEntities - 1), { minLength: 1, maxLength: 4 });
    checkProperty(
      fc.property(graphs, fc.nat(numEntities - 1), targets, (graph, topic, wanted) => {
        const around = new ShortestRelations(graph);
        around.onPaths((topic + 1) % numEntities, 3, [topic]);
        const shares = around.onPaths(topic, 3, wanted);
        const reached = wanted
          .filter((target) => target !== topic)
          .map((target) => setsBetween(graph, topic, target, 3))
          .filter((sets) => sets.length > 0);
        for (let relation = 0; relation < 40; relation++) {
          const holders = reached.filter((sets) => sets.some((set) => set.has(relation)));
          expect(shares[relation]).toBeCloseTo(holders.length / Math.max(1, reached.length), 6);
        }
      }),
    );
  });
});
