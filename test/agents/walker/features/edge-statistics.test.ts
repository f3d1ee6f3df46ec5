import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { edgeStatistics } from '../../../../agents/walker/features/edge-features.js';
import { Graph } from '../../../../src/kg/graph.js';
import { graphOf } from '../../../fixtures/toy-walks.js';

describe('statistics of edges', () => {
  test('are those by hand', () => {
    const graph = graphOf('by-hand', [
      ['a', 'r', 'b'],
      ['a', 'r', 'c'],
      ['a', 'r', 'd'],
      ['a', 's', 'b'],
      ['b', 's', 'b'],
    ]);
    const { logDegree, logFanOut, logParallel } = edgeStatistics(graph);
    const near = (actual: Float32Array, expected: number[]) =>
      expect(Array.from(actual, Math.exp)).toEqual(expected.map((value) => expect.closeTo(value, 5)));
    near(logDegree, [5, 2, 1, 1]);
    near(logFanOut, [3, 3, 3, 1, 1]);
    near(logParallel, [2, 1, 1, 2, 1]);
  });

  test('agree with counting edge by edge on random multigraphs', () => {
    const triples = fc.array(fc.tuple(fc.nat(4), fc.nat(2), fc.nat(4)), { maxLength: 30 });
    fc.assert(
      fc.property(triples, (list) => {
        const names = ['a', 'b', 'c', 'd', 'e'];
        const graph = new Graph('random', names, ['r', 's', 't'], {
          heads: Int32Array.from(list, ([head]) => head),
          relations: Int32Array.from(list, ([, relation]) => relation),
          tails: Int32Array.from(list, ([, , tail]) => tail),
        });
        const { logFanOut, logParallel } = edgeStatistics(graph);
        const edges = names.flatMap((_, head) =>
          Array.from({ length: graph.degree(head) }, (_value, i) => graph.offsets[head]! + i).map((edge) => ({
            head,
            relation: graph.relations[edge]!,
            tail: graph.tails[edge]!,
          })),
        );
        edges.forEach(({ head, relation, tail }, edge) => {
          const fanOut = edges.filter((other) => other.head === head && other.relation === relation).length;
          const parallel = edges.filter((other) => other.head === head && other.tail === tail).length;
          expect(Math.exp(logFanOut[edge]!)).toBeCloseTo(fanOut, 4);
          expect(Math.exp(logParallel[edge]!)).toBeCloseTo(parallel, 4);
        });
      }),
    );
  });
});
