import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { frontierStepper, initialFrontier, stepFrontier } from '../../../src/kg/frontier.js';
import { Graph } from '../../../src/kg/graph.js';

const id = fc.integer({ min: 0, max: 7 });
const edges = fc.array(fc.tuple(id, fc.integer({ min: 0, max: 1 }), id), { maxLength: 40 });
const topics = fc.uniqueArray(id, { minLength: 1, maxLength: 3 });

test('a stepper gives the frontiers of stepFrontier, walk after walk with one scratch', () => {
  fc.assert(
    fc.property(
      edges,
      fc.array(fc.tuple(topics, fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 4 }))),
      (triples, walks) => {
        const names = Array.from({ length: 8 }, (_, i) => `e${i}`);
        const column = (k: 0 | 1 | 2) => Int32Array.from(triples, (triple) => triple[k]);
        const graph = new Graph('g', names, ['a', 'b'], { heads: column(0), relations: column(1), tails: column(2) });
        const step = frontierStepper(graph);
        for (const [start, chain] of walks) {
          let ours = initialFrontier(start);
          let plain = ours;
          for (const relation of chain) {
            ours = step(ours, relation, start);
            plain = stepFrontier(graph, plain, relation, start);
            expect(ours).toEqual(plain);
          }
        }
      },
    ),
  );
});

test('a hub larger than the scratch is walked whole', () => {
  const size = 5000;
  const names = Array.from({ length: size + 1 }, (_, i) => `e${i}`);
  const heads = new Int32Array(size);
  const tails = Int32Array.from({ length: size }, (_, i) => i + 1);
  const graph = new Graph('g', names, ['a'], { heads, relations: new Int32Array(size), tails });
  expect(frontierStepper(graph)(initialFrontier([0]), 0, [0]).entities).toEqual(tails);
});
